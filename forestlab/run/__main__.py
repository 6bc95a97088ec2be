import sys

from forestlab.run.command import main

sys.exit(main())

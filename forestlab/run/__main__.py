import sys

from forestlab.entry import enter

sys.exit(enter("forestlab.run.command"))

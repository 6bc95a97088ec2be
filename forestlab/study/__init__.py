"""What is measured of a fitted forest: plain arrays in, plain arrays out."""

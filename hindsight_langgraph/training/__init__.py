"""Training of the small models that ship as data (extra `train`)."""

"""What the memory does, as plans over its ports: the rooms composed, and outages absorbed."""

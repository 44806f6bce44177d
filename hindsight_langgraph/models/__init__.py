"""Models: embedders and the small chat model, behind their ports."""

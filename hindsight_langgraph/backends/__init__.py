"""Stores: each answers the ops of one port and maps its errors."""

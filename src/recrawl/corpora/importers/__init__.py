"""Importers, by what they read. Each is registered in the entry point group `recrawl.importers`."""

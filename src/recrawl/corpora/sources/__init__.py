"""What importers read from: files under any compression, folders, servers; the lines and times in them."""

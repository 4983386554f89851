-- What a sitemap or a feed last said of a resource that nobody has looked at closely yet; NULL: nothing.
ALTER TABLE resource ADD COLUMN changefreq TEXT;
ALTER TABLE resource ADD COLUMN lastmod_at REAL;

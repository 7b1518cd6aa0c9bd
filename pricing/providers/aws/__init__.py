"""Amazon Web Services: P, G, Trn, Inf and DL instance types. The tables are in this folder; `fetch` refreshes them."""

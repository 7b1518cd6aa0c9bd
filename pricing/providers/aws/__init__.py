"""Amazon Web Services: P, G, Trn, Inf and DL instance types. Tables beside this file; `fetch` refreshes them."""

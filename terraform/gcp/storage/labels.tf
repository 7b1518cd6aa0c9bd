locals {
  # Label keys and values hold lower-case letters, digits, _ and -, at most 63 of them. Keys start with a letter, and not
  # with Google's own goog. The plan's come last, because budgets and bills go by them.
  own_labels = {
    for key, text in var.tags :
    substr(replace(replace(lower(key), "/[^a-z0-9_-]/", "-"), "/^([^a-z]|goog)/", "x-$1"), 0, 63) => text...
    if key != ""
  }
  labels = {
    for key, text in merge({ for key, texts in local.own_labels : key => texts[0] }, local.plan_labels, { managed_by = "terraform" }) :
    key => substr(replace(lower(text), "/[^a-z0-9_-]/", "-"), 0, 63) if text != ""
  }
}

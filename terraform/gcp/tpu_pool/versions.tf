terraform {
  required_version = ">= 1.5"

  required_providers {
    google-beta = {
      source  = "hashicorp/google-beta"
      version = ">= 6.25, < 8.0"
    }
  }
}

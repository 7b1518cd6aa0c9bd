# Two v5e slices on demand and one v6e slice on spot.

terraform {
  required_version = ">= 1.5"

  required_providers {
    google-beta = {
      source  = "hashicorp/google-beta"
      version = "~> 6.0"
    }
  }
}

variable "project" {
  description = "Project that everything is created in."
  type        = string
  default     = "my-project"
}

provider "google-beta" {
  project = var.project
}

module "serving" {
  source = "../../tpu_pool"

  name             = "gp-v5e-serving"
  plan_id          = "example"
  project          = var.project
  zone             = "us-central1-a"
  accelerator_type = "v5litepod-8"
  node_count       = 2
  subnetwork       = "projects/my-project/regions/us-central1/subnetworks/tpu"
}

module "batch" {
  source = "../../tpu_pool"

  name             = "gp-v6e-batch"
  plan_id          = "example"
  project          = var.project
  zone             = "us-east5-b"
  accelerator_type = "v6e-4"
  node_count       = 1
  purchase_option  = "spot"
  subnetwork       = "projects/my-project/regions/us-east5/subnetworks/tpu"
}

output "serving" {
  description = "The serving pool."
  value       = module.serving
}

output "batch" {
  description = "The spot pool."
  value       = module.batch
}

# Capacity: machines held in a zone, with a commitment of a year on request; machines close together in a reservation that exists;
# and machines that Dynamic Workload Scheduler starts together for three days.

terraform {
  required_version = ">= 1.5"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 6.0"
    }
  }
}

variable "project" {
  description = "Project that everything is created in."
  type        = string
  default     = "my-project"
}

provider "google" {
  project = var.project
}

variable "buy" {
  description = "Whether to buy the commitment, which is owed for a year."
  type        = bool
  default     = false
}

module "held" {
  source = "../../gpu_pool"

  name         = "gp-a3-held"
  plan_id      = "example"
  project      = var.project
  region       = "us-central1"
  zones        = ["us-central1-a"]
  machine_type = "a3-highgpu-8g"
  node_count   = 4
  subnetwork   = "projects/my-project/regions/us-central1/subnetworks/gpu"

  reserve_capacity    = true
  reserved_node_count = 2
  buy_commitment      = var.buy
}

module "close" {
  source = "../../gpu_pool"

  name              = "gp-a2-close"
  plan_id           = "example"
  project           = var.project
  region            = "us-central1"
  zones             = ["us-central1-f"]
  machine_type      = "a2-highgpu-8g"
  node_count        = 2
  reservation       = "a2-training"
  compact_placement = true
  subnetwork        = "projects/my-project/regions/us-central1/subnetworks/gpu"
}

module "burst" {
  source = "../../gpu_pool"

  name             = "gp-a3-burst"
  plan_id          = "example"
  project          = var.project
  region           = "us-central1"
  zones            = ["us-central1-c"]
  machine_type     = "a3-highgpu-8g"
  node_count       = 8
  purchase_option  = "flex_start"
  flex_start_hours = 72
  subnetwork       = "projects/my-project/regions/us-central1/subnetworks/gpu"
}

output "held" {
  description = "The pool with a reservation of its own."
  value       = module.held
}

output "close" {
  description = "The pool in a reservation that exists."
  value       = module.close
}

output "burst" {
  description = "The pool that waits for its nodes."
  value       = module.burst
}

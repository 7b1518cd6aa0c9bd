# A100 machines on spot, and T4 on N1 machines in one zone.

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

module "training" {
  source = "../../gpu_pool"

  name            = "gp-a2-training"
  plan_id         = "example"
  workloads       = ["Fine-tuning (weekly)"]
  teams           = ["research"]
  project         = var.project
  region          = "us-central1"
  machine_type    = "a2-highgpu-8g"
  node_count      = 2
  purchase_option = "spot"
  subnetwork      = "projects/my-project/regions/us-central1/subnetworks/gpu"
}

module "inference" {
  source = "../../gpu_pool"

  name              = "gp-t4-inference"
  plan_id           = "example"
  project           = var.project
  region            = "europe-west4"
  zones             = ["europe-west4-a"]
  machine_type      = "n1-standard-8"
  accelerator_type  = "nvidia-tesla-t4"
  accelerator_count = 2
  node_count        = 3
  subnetwork        = "projects/my-project/regions/europe-west4/subnetworks/gpu"
}

output "training" {
  description = "The spot pool."
  value       = module.training
}

output "inference" {
  description = "The T4 pool."
  value       = module.inference
}

# A container on every node, half of them on spot, with fewer nodes from February on.

terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.0"
    }
  }
}

provider "aws" {
  region = "us-east-1"
}

module "batch" {
  source = "../../gpu_pool"

  name                 = "gp-g6e-batch"
  plan_id              = "example"
  workloads            = ["nightly embeddings"]
  instance_type        = "g6e.xlarge"
  purchase_option      = "spot"
  on_demand_base_count = 1
  spot_fraction        = 0.5
  node_count           = 6
  subnet_ids           = ["subnet-0123456789abcdef0"]

  schedule = [
    { start = "2998-01-01T00:00:00Z", node_count = 6 },
    { start = "2998-02-01T00:00:00Z", node_count = 2 },
  ]

  container_image   = "123456789012.dkr.ecr.us-east-1.amazonaws.com/embed:1.0"
  container_command = ["python", "-m", "embed", "--shard", "it's 1 of 4"]
  cuda_line         = "12.8"

  # Lets the nodes read the registry and the data; log in with Session Manager.
  instance_profile_name = "embed-nodes"
}

output "batch" {
  description = "The pool."
  value       = module.batch
}

# A100 nodes on spot in a network of their own, and two InfiniBand nodes in an existing one.

terraform {
  required_version = ">= 1.5"

  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 4.0"
    }
  }
}

provider "azurerm" {
  subscription_id = var.subscription_id

  features {}
}

variable "subscription_id" {
  description = "Subscription that everything is created in."
  type        = string
  default     = "00000000-0000-0000-0000-000000000000"
}

variable "ssh_public_key" {
  description = "Public SSH key of the administrator."
  type        = string
  default     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExampleExam planner@example"
}

module "batch" {
  source = "../../gpu_pool"

  name            = "gp-nc24ads-batch"
  plan_id         = "example"
  workloads       = ["nightly embeddings"]
  teams           = ["search"]
  vm_size         = "Standard_NC24ads_A100_v4"
  location        = "westeurope"
  node_count      = 4
  purchase_option = "spot"
  ssh_public_key  = var.ssh_public_key
}

module "training" {
  source = "../../gpu_pool"

  name                    = "gp-nd96isr-training"
  plan_id                 = "example"
  vm_size                 = "Standard_ND96isr_H100_v5"
  location                = "eastus"
  node_count              = 2
  hpc_image               = true
  nvidia_driver_extension = false
  single_placement_group  = true
  resource_group_name     = "training"
  subnet_id               = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/gpu/subnets/nodes"
  ssh_public_key          = var.ssh_public_key
}

output "batch" {
  description = "The spot pool."
  value       = module.batch
}

output "training" {
  description = "The InfiniBand pool."
  value       = module.training
}

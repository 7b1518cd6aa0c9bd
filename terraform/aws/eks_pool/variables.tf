variable "name" {
  description = "Name of the pool; every resource is named after it. Lower case, at most 40 characters."
  type        = string

  validation {
    condition     = can(regex("^[a-z][-a-z0-9]{0,38}[a-z0-9]$", var.name))
    error_message = "name is 2 to 40 lower-case letters, digits and hyphens, starting with a letter and not ending in a hyphen."
  }
}

variable "plan_id" {
  description = "Plan that this pool belongs to; becomes the tag plan."
  type        = string
}

variable "workloads" {
  description = "Workloads that the plan puts on this pool; become the tag workloads."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "teams" {
  description = "Teams that own these workloads; become the tag team."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "tags" {
  description = "Further tags on everything that is created; a character that AWS does not take becomes an underscore."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "purchase_option" {
  description = "How nodes are paid for: on_demand (also under reserved instances and savings plans, which bill by themselves), spot, or capacity_block (into a block that is already bought)."
  type        = string
  default     = "on_demand"
  nullable    = false

  validation {
    condition     = contains(["on_demand", "spot", "capacity_block"], var.purchase_option)
    error_message = "purchase_option is on_demand, spot or capacity_block."
  }
}

variable "node_count" {
  description = "Nodes to keep running; with a schedule, before its first time, and then at most those that it begins with if it has more later."
  type        = number

  validation {
    condition     = var.node_count >= 0 && floor(var.node_count) == var.node_count
    error_message = "node_count is a whole number of nodes, 0 or more."
  }
}

variable "schedule" {
  description = "Nodes from a time on (2027-03-01T00:00:00Z); empty leaves them at node_count. Rows that have begun decide at an apply."
  type        = list(object({ start = string, node_count = number }))
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for row in var.schedule : can(regex("^\\d{4}-\\d{2}-\\d{2}T\\d{2}:00:00Z$", row.start)) && can(timeadd(row.start, "0s"))])
    error_message = "schedule has times on the hour such as 2027-03-01T00:00:00Z."
  }

  validation {
    condition     = length(distinct(var.schedule[*].start)) == length(var.schedule)
    error_message = "schedule has each time once."
  }

  validation {
    condition     = alltrue([for row in var.schedule : row.node_count >= 0 && floor(row.node_count) == row.node_count])
    error_message = "schedule has whole numbers of nodes, 0 or more."
  }
}

variable "week" {
  description = "Nodes in the hours of the week (UTC) of a month: from an hour on, for some hours, on days such as MON; empty for the same at all hours."
  type        = list(object({ month = string, days = list(string), hour = number, hours = number, node_count = number }))
  default     = []
  nullable    = false

  validation {
    condition = alltrue([
      for row in var.week :
      can(regex("^\\d{4}-(0[1-9]|1[0-2])$", row.month)) && length(row.days) > 0 &&
      length(setsubtract(row.days, ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"])) == 0
    ])
    error_message = "week has months such as 2027-03 and days from MON to SUN."
  }

  validation {
    condition = alltrue([
      for row in var.week :
      contains(range(24), row.hour) && contains(range(1, 25), row.hours) && row.hour + row.hours <= 24 &&
      row.node_count >= 0 && floor(row.node_count) == row.node_count
    ])
    error_message = "week has hours from 0 to 23 within a day, and whole numbers of nodes, 0 or more."
  }
}

variable "gang_nodes" {
  description = "Nodes that one job needs at once; above 1 they are placed and joined so that jobs can span them."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.gang_nodes >= 1 && floor(var.gang_nodes) == var.gang_nodes
    error_message = "gang_nodes is a whole number of nodes, 1 or more."
  }
}

variable "max_node_count" {
  description = "Upper limit of the pool for whoever scales it; null keeps it at the most of node_count, schedule and week."
  type        = number
  default     = null
}

variable "instance_type" {
  description = "EC2 instance type, such as g6e.12xlarge."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9-]+\\.[a-z0-9]+$", var.instance_type))
    error_message = "instance_type is an EC2 instance type such as g6e.12xlarge."
  }
}

variable "alternative_instance_types" {
  description = "Other instance types the group may start when the first is short. The plan prices only the first."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "capacity_reservation_id" {
  description = "Capacity reservation or capacity block (cr-...) that exists already, to start nodes in."
  type        = string
  default     = null

  validation {
    condition     = var.capacity_reservation_id == null || can(regex("^cr-[0-9a-f]+$", var.capacity_reservation_id))
    error_message = "capacity_reservation_id starts with cr-."
  }
}

variable "cluster_name" {
  description = "EKS cluster that the nodes join."
  type        = string

  validation {
    condition     = can(regex("^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$", var.cluster_name))
    error_message = "cluster_name is the name of an EKS cluster."
  }
}

variable "node_role_arn" {
  description = "IAM role of the nodes, with the policies that EKS asks of it (AmazonEKSWorkerNodePolicy, AmazonEC2ContainerRegistryPullOnly)."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$", var.node_role_arn))
    error_message = "node_role_arn is the ARN of an IAM role (arn:aws:iam::123456789012:role/...)."
  }
}

variable "subnet_ids" {
  description = "Private subnets to start nodes in, in zones that offer the instance type. One subnet for a placement group."
  type        = list(string)

  validation {
    condition     = length(var.subnet_ids) > 0 && alltrue([for id in var.subnet_ids : startswith(id, "subnet-")])
    error_message = "subnet_ids holds at least one subnet id (subnet-...)."
  }
}

variable "ami_type" {
  description = "EKS image of the nodes: the accelerated Amazon Linux 2023 for NVIDIA on x86_64 or arm64, or for Neuron."
  type        = string
  default     = "AL2023_x86_64_NVIDIA"
  nullable    = false

  validation {
    condition     = contains(["AL2023_x86_64_NVIDIA", "AL2023_ARM_64_NVIDIA", "AL2023_x86_64_NEURON"], var.ami_type)
    error_message = "ami_type is AL2023_x86_64_NVIDIA, AL2023_ARM_64_NVIDIA or AL2023_x86_64_NEURON."
  }
}

variable "root_volume_gib" {
  description = "Size of the encrypted gp3 root volume in GiB."
  type        = number
  default     = 200
  nullable    = false

  validation {
    condition     = var.root_volume_gib >= 1 && var.root_volume_gib <= 16384
    error_message = "root_volume_gib is between 1 and 16384."
  }
}

variable "kms_key_id" {
  description = "Key that encrypts the root volume; null is the account's default key for EBS."
  type        = string
  default     = null
}

variable "efa_interface_count" {
  description = "Elastic Fabric Adapter interfaces a node, 0 for none; null is as many as the instance type has."
  type        = number
  default     = null

  validation {
    condition     = var.efa_interface_count == null || contains(range(33), coalesce(var.efa_interface_count, 0))
    error_message = "efa_interface_count is a whole number from 0 to 32."
  }
}

variable "placement_group" {
  description = "Whether nodes are packed close together in one zone, for jobs that span nodes; null is where they have EFA and one subnet. A capacity block is close together as it is."
  type        = bool
  default     = null
}

variable "labels" {
  description = "Further Kubernetes labels of the nodes, as Kubernetes takes them."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "taint" {
  description = "Whether nodes take only pods that tolerate their accelerator (nvidia.com/gpu or aws.amazon.com/neuron)."
  type        = bool
  default     = true
  nullable    = false
}

# Machine types that bring their accelerators: how many, and what of vCPUs, memory and local SSD a commitment covers. Facts of
# https://docs.cloud.google.com/compute/docs/accelerator-optimized-machines; accelerator types as in
# https://docs.cloud.google.com/compute/docs/gpus. Local SSD of null is not known here, so no commitment is bought for it.
# Fractions of an accelerator and arm64 machines are not here.
locals {
  machines = {
    "a2-highgpu-1g"         = { accelerators = 1, vcpus = 12, memory_gib = 85, ssd_gib = 0 }
    "a2-highgpu-2g"         = { accelerators = 2, vcpus = 24, memory_gib = 170, ssd_gib = 0 }
    "a2-highgpu-4g"         = { accelerators = 4, vcpus = 48, memory_gib = 340, ssd_gib = 0 }
    "a2-highgpu-8g"         = { accelerators = 8, vcpus = 96, memory_gib = 680, ssd_gib = 0 }
    "a2-megagpu-16g"        = { accelerators = 16, vcpus = 96, memory_gib = 1360, ssd_gib = 0 }
    "a2-ultragpu-1g"        = { accelerators = 1, vcpus = 12, memory_gib = 170, ssd_gib = 375 }
    "a2-ultragpu-2g"        = { accelerators = 2, vcpus = 24, memory_gib = 340, ssd_gib = 750 }
    "a2-ultragpu-4g"        = { accelerators = 4, vcpus = 48, memory_gib = 680, ssd_gib = 1500 }
    "a2-ultragpu-8g"        = { accelerators = 8, vcpus = 96, memory_gib = 1360, ssd_gib = 3000 }
    "a3-edgegpu-8g"         = { accelerators = 8, vcpus = 208, memory_gib = 1872, ssd_gib = 6000 }
    "a3-edgegpu-8g-nolssd"  = { accelerators = 8, vcpus = 208, memory_gib = 1872, ssd_gib = 0 }
    "a3-highgpu-1g"         = { accelerators = 1, vcpus = 26, memory_gib = 234, ssd_gib = 750 }
    "a3-highgpu-2g"         = { accelerators = 2, vcpus = 52, memory_gib = 468, ssd_gib = 1500 }
    "a3-highgpu-4g"         = { accelerators = 4, vcpus = 104, memory_gib = 936, ssd_gib = 3000 }
    "a3-highgpu-8g"         = { accelerators = 8, vcpus = 208, memory_gib = 1872, ssd_gib = 6000 }
    "a3-megagpu-8g"         = { accelerators = 8, vcpus = 208, memory_gib = 1872, ssd_gib = 6000 }
    "a3-ultragpu-8g"        = { accelerators = 8, vcpus = 224, memory_gib = 2952, ssd_gib = 12000 }
    "a3-ultragpu-8g-nolssd" = { accelerators = 8, vcpus = 224, memory_gib = 2952, ssd_gib = 0 }
    "a4-highgpu-8g"         = { accelerators = 8, vcpus = 224, memory_gib = 3968, ssd_gib = null }
    "g2-standard-4"         = { accelerators = 1, vcpus = 4, memory_gib = 16, ssd_gib = 0 }
    "g2-standard-8"         = { accelerators = 1, vcpus = 8, memory_gib = 32, ssd_gib = 0 }
    "g2-standard-12"        = { accelerators = 1, vcpus = 12, memory_gib = 48, ssd_gib = 0 }
    "g2-standard-16"        = { accelerators = 1, vcpus = 16, memory_gib = 64, ssd_gib = 0 }
    "g2-standard-24"        = { accelerators = 2, vcpus = 24, memory_gib = 96, ssd_gib = 0 }
    "g2-standard-32"        = { accelerators = 1, vcpus = 32, memory_gib = 128, ssd_gib = 0 }
    "g2-standard-48"        = { accelerators = 4, vcpus = 48, memory_gib = 192, ssd_gib = 0 }
    "g2-standard-96"        = { accelerators = 8, vcpus = 96, memory_gib = 384, ssd_gib = 0 }
    "g4-standard-48"        = { accelerators = 1, vcpus = 48, memory_gib = 180, ssd_gib = null }
    "g4-standard-96"        = { accelerators = 2, vcpus = 96, memory_gib = 360, ssd_gib = null }
    "g4-standard-192"       = { accelerators = 4, vcpus = 192, memory_gib = 720, ssd_gib = null }
    "g4-standard-384"       = { accelerators = 8, vcpus = 384, memory_gib = 1440, ssd_gib = null }
  }
  # By the start of the machine type: the accelerator's type, and the series of its commitments.
  families = {
    a2-highgpu  = { accelerator = "nvidia-tesla-a100", series = "ACCELERATOR_OPTIMIZED" }
    a2-megagpu  = { accelerator = "nvidia-tesla-a100", series = "ACCELERATOR_OPTIMIZED" }
    a2-ultragpu = { accelerator = "nvidia-a100-80gb", series = "ACCELERATOR_OPTIMIZED" }
    a3-edgegpu  = { accelerator = "nvidia-h100-80gb", series = "ACCELERATOR_OPTIMIZED_A3" }
    a3-highgpu  = { accelerator = "nvidia-h100-80gb", series = "ACCELERATOR_OPTIMIZED_A3" }
    a3-megagpu  = { accelerator = "nvidia-h100-mega-80gb", series = "ACCELERATOR_OPTIMIZED_A3_MEGA" }
    a3-ultragpu = { accelerator = "nvidia-h200-141gb", series = "ACCELERATOR_OPTIMIZED_A3_ULTRA" }
    a4-highgpu  = { accelerator = "nvidia-b200", series = "ACCELERATOR_OPTIMIZED_A4" }
    g2-standard = { accelerator = "nvidia-l4", series = "GRAPHICS_OPTIMIZED" }
    g4-standard = { accelerator = "nvidia-rtx-pro-6000", series = "GRAPHICS_OPTIMIZED_G4" }
  }
  brought = lookup(local.machines, var.machine_type, null)
  family  = lookup(local.families, join("-", slice(split("-", "${var.machine_type}-"), 0, 2)), null)
}

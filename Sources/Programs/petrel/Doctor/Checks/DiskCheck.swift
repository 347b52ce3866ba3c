import CLinuxStatus
import Foundation
import PetrelServer
import Settings
import Storage

/// The disk that the data directory is on, or would be.
struct DiskCheck: Sendable {
  /// What a file system says of itself.
  struct Space: Sendable, Hashable {
    var freeBytes: UInt64
    /// Files that can still be made; nil where the file system has no such limit.
    var freeFiles: UInt64?
    /// Its kind, as `statfs` has it.
    var kind: UInt32
  }

  let directory: String

  func findings() -> [Finding] {
    guard let place = existing, let space = Self.space(at: place) else {
      return [
        .problem("nothing can be said of the disk of \(directory)", "look whether it is there")
      ]
    }
    return Self.judge(space, of: place)
  }

  /// The directory, or the nearest one above it that there is.
  private var existing: String? {
    var place = URL(fileURLWithPath: directory).path
    while access(place, F_OK) != 0 {
      guard place.count > 1 else { return nil }
      place = AssetFiles.folder(of: place)
    }
    return place
  }

  private static func space(at place: String) -> Space? {
    var system = statfs()
    guard statfs(place, &system) == 0 else { return nil }
    return Space(
      freeBytes: UInt64(system.f_bavail) &* UInt64(system.f_bsize),
      freeFiles: system.f_files == 0 ? nil : UInt64(system.f_ffree),
      kind: UInt32(truncatingIfNeeded: system.f_type))
  }

  /// Below this the server still works, but it is time to act.
  static let scarceBytes: UInt64 = 1 << 30
  /// Files that may still be made: each asset is one.
  static let scarceFiles: UInt64 = 10_000
  static let leastFiles: UInt64 = 100

  static func judge(_ space: Space, of place: String) -> [Finding] {
    [bytes(space, place), files(space, place), kind(space, place)].compactMap { $0 }
  }

  private static func bytes(_ space: Space, _ place: String) -> Finding {
    let free = "\(space.freeBytes >> 20) MiB are free at \(place)"
    let advice = "make room: du -xh \(place) | sort -h | tail shows what takes it"
    if space.freeBytes < UInt64(Server.leastFreeBytes) {
      return .problem(
        "\(free): the server calls itself not ready, and saves are about to fail", advice)
    }
    return space.freeBytes < scarceBytes ? .warning(free, advice) : .ok(free)
  }

  private static func files(_ space: Space, _ place: String) -> Finding? {
    guard let files = space.freeFiles, files < scarceFiles else { return nil }
    let text = "\(files) more files can be made at \(place), and each asset is one"
    let advice = "remove files, or make a file system with more inodes (df -i \(place))"
    return files < leastFiles ? .problem(text, advice) : .warning(text, advice)
  }

  /// Kinds of file system (statfs(2)) that a write-ahead log cannot be on: its index is memory that
  /// all who use it share (https://sqlite.org/wal.html).
  private static let shared: [UInt32: String] = [
    0x6969: "NFS", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x517B: "SMB", 0x0102_1997: "9p",
    0x00C3_6400: "Ceph", 0x5346_414F: "AFS", 0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS",
  ]

  private static func kind(_ space: Space, _ place: String) -> Finding? {
    if let name = shared[space.kind] {
      return .problem(
        "\(place) is on \(name): SQLite's write-ahead log does not work over a network, and the "
          + "store would be damaged", "keep the store on a disk of this machine")
    }
    switch space.kind {
    case 0x0102_1994, 0x8584_58F6:
      return .warning(
        "\(place) is in memory (tmpfs): all is gone after a restart of the machine",
        "keep the store on a disk")
    case 0x794C_7630:
      return .warning(
        "\(place) is in a container's own layer (overlayfs) and goes with the container",
        "mount a volume there")
    case 0x6573_5546:
      return .warning(
        "\(place) is on FUSE, and whether it keeps what it was told to sync is its own affair",
        "keep the store on a disk of this machine")
    default: return nil
    }
  }
}

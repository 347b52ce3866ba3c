import CLinuxStatus
import Foundation
import PetrelServer
import Settings
import Storage

/// The check of the file system of the data directory: free space, the number of files that can
/// still be created, and the kind of file system.
struct DiskCheck: Sendable {
  /// The state of a file system, from statfs(2).
  struct Space: Sendable, Hashable {
    /// Bytes that unprivileged users may still write.
    var freeBytes: UInt64
    /// Files that can still be created; `nil` if the file system has no such limit.
    var freeFiles: UInt64?
    /// The magic number of the kind of file system.
    var kind: UInt32
  }

  /// The data directory, which need not exist yet.
  let directory: String

  func findings() -> [Finding] {
    guard let place = existing, let space = Self.space(at: place) else {
      return [
        .problem("the disk of \(directory) cannot be examined", "check that the directory exists")
      ]
    }
    return Self.judge(space, of: place)
  }

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

  /// The free bytes below which there is a warning (1 GiB). The server still works.
  static let scarceBytes: UInt64 = 1 << 30
  /// The number of further files below which there is a warning. Each asset needs one.
  static let scarceFiles: UInt64 = 10_000
  /// The number of further files below which there is a problem.
  static let leastFiles: UInt64 = 100

  static func judge(_ space: Space, of place: String) -> [Finding] {
    [bytes(space, place), files(space, place), kind(space, place)].compactMap { $0 }
  }

  /// Returns the finding about free space. Below `Server.leastFreeBytes` the server is not ready.
  private static func bytes(_ space: Space, _ place: String) -> Finding {
    let free = "\(space.freeBytes >> 20) MiB are free at \(place)"
    let advice = "free some space: du -xh \(place) | sort -h | tail lists the largest directories"
    if space.freeBytes < UInt64(Server.leastFreeBytes) {
      return .problem(
        "\(free): the server reports that it is not ready, and saves will soon fail", advice)
    }
    return space.freeBytes < scarceBytes ? .warning(free, advice) : .ok(free)
  }

  /// Returns the finding about the number of further files; `nil` if there is no limit, or at least
  /// ``scarceFiles`` can be created.
  private static func files(_ space: Space, _ place: String) -> Finding? {
    guard let files = space.freeFiles, files < scarceFiles else { return nil }
    let text = "\(files) more files can be created at \(place), and each asset needs one"
    let advice = "remove files, or create a file system with more inodes (df -i \(place))"
    return files < leastFiles ? .problem(text, advice) : .warning(text, advice)
  }

  /// Network file systems by magic number (statfs(2)). SQLite's write-ahead log does not work on
  /// them, because all processes share the index of the log in memory
  /// (https://sqlite.org/wal.html).
  private static let shared: [UInt32: String] = [
    0x6969: "NFS", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x517B: "SMB", 0x0102_1997: "9p",
    0x00C3_6400: "Ceph", 0x5346_414F: "AFS", 0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS",
  ]

  /// Returns a finding if the kind of file system is unsuitable for a store: a network file system,
  /// memory, a container's own layer or FUSE.
  private static func kind(_ space: Space, _ place: String) -> Finding? {
    if let name = shared[space.kind] {
      return .problem(
        "\(place) is on \(name): SQLite's write-ahead log does not work over a network, and the "
          + "store would be damaged", "keep the store on a disk of this machine")
    }
    switch space.kind {
    case 0x0102_1994, 0x8584_58F6:
      return .warning(
        "\(place) is in memory (tmpfs): a restart of the machine deletes the store",
        "keep the store on a disk")
    case 0x794C_7630:
      return .warning(
        "\(place) is in a container's own layer (overlayfs) and is deleted with the container",
        "mount a volume there")
    case 0x6573_5546:
      return .warning(
        "\(place) is on FUSE, which may lose data that the store has synced",
        "keep the store on a disk of this machine")
    default: return nil
    }
  }
}

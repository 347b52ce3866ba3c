import CFailingDisk
import Foundation

/// Makes of the files that a killed process left what a loss of power might have left of them.
///
/// The journal of the failing disk has what each write, truncation and change of names replaced, and which
/// were synced. Of the others any may be missing: each sector of each write by itself, and in each
/// folder the latest changes of names. So may writes that were forgotten by a sync that failed, though later
/// ones were synced.
struct PowerCut {
  struct Result {
    /// Writes that no sync had followed, and sectors of them that were lost.
    var unsyncedWrites = 0
    /// Writes that a sync had failed to bring to the disk before another did not.
    var forgottenWrites = 0
    var lostSectors = 0
    var lostNames = 0
  }

  private static let sector = 512

  private struct Entry {
    var head: failing_disk_entry
    var bytes: [UInt8]
    var isOnDisk = false
    var isForgotten = false

    var isName: Bool {
      head.kind >= UInt32(FAILING_DISK_MADE) && head.kind <= UInt32(FAILING_DISK_REMOVED)
    }
    var isWrite: Bool {
      head.kind == UInt32(FAILING_DISK_WROTE) || head.kind == UInt32(FAILING_DISK_CUT)
    }

    var paths: [String] {
      bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  private let entries: [Entry]
  private let folder: String

  /// - Parameters:
  ///   - journals: what the failing disk wrote, a file for each process.
  ///   - folder: where its files lie.
  init(journals: [String], folder: String) throws {
    self.folder = folder
    let all = try journals.flatMap { try Self.entries(in: $0) }
    entries = Self.settled(all.sorted { $0.head.number < $1.head.number })
  }

  private static func entries(in journal: String) throws -> [Entry] {
    let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: journal)))
    var entries: [Entry] = []
    var place = 0
    let size = MemoryLayout<failing_disk_entry>.size
    while place + size <= data.count {
      var head = failing_disk_entry()
      withUnsafeMutableBytes(of: &head) { $0.copyBytes(from: data[place..<place + size]) }
      let end = place + size + Int(head.length)
      guard end <= data.count else { break }
      entries.append(Entry(head: head, bytes: Array(data[(place + size)..<end])))
      place = end
    }
    return entries
  }

  /// Takes down what of the entries syncs brought to the disk, and what none will.
  private static func settled(_ entries: [Entry]) -> [Entry] {
    var entries = entries
    var open: [UInt64: [Int]] = [:]
    for (index, entry) in entries.enumerated() {
      let inode = entry.head.inode
      switch Int(entry.head.kind) {
      case FAILING_DISK_SYNCED, FAILING_DISK_FORGOT:
        let isSynced = Int(entry.head.kind) == FAILING_DISK_SYNCED
        for place in open[inode] ?? [] where entries[place].head.number < entry.head.offset {
          // A file system whose journal of names fails takes no more writes.
          if isSynced {
            entries[place].isOnDisk = true
          } else if entries[place].isWrite {
            entries[place].isForgotten = true
          }
        }
        open[inode]?.removeAll { entries[$0].isOnDisk || entries[$0].isForgotten }
      default: open[inode, default: []].append(index)
      }
    }
    return entries
  }

  /// - Parameter loss: how likely a sector is lost that was not synced.
  func strike(
    loss: Double, using generator: inout some RandomNumberGenerator
  ) throws -> Result {
    var result = Result()
    let names = entries.filter { $0.isName && !$0.isOnDisk }
    for (_, changes) in Dictionary(grouping: names, by: \.head.inode).sorted(by: { $0.key < $1.key }
    ) {
      var kept = 0
      while kept < changes.count, Double.random(in: 0..<1, using: &generator) >= loss { kept += 1 }
      for change in changes[kept...].reversed() where undo(change) { result.lostNames += 1 }
    }
    let paths = try pathsByInode()
    for (inode, all) in Dictionary(grouping: entries.filter(\.isWrite), by: \.head.inode)
      .sorted(by: { $0.key < $1.key })
    {
      // What was written later goes on top of it again.
      let writes = Array(all.drop { $0.isOnDisk })
      guard let path = paths[inode], !writes.isEmpty else { continue }
      result.unsyncedWrites += writes.count { !$0.isOnDisk }
      result.forgottenWrites += writes.count(where: \.isForgotten)
      result.lostSectors += try lose(writes, of: path, loss, &generator)
    }
    return result
  }

  private func undo(_ change: Entry) -> Bool {
    let paths = change.paths
    switch Int(change.head.kind) {
    case FAILING_DISK_MADE where paths.count == 1:
      return unlink(paths[0]) == 0 || rmdir(paths[0]) == 0
    case FAILING_DISK_RENAMED where paths.count == 2: return rename(paths[1], paths[0]) == 0
    case FAILING_DISK_LINKED where paths.count == 2: return unlink(paths[1]) == 0
    case FAILING_DISK_REMOVED where paths.count == 2: return rename(paths[1], paths[0]) == 0
    default: return false
    }
  }

  private func pathsByInode() throws -> [UInt64: String] {
    var paths: [UInt64: String] = [:]
    guard let files = FileManager.default.enumerator(atPath: folder) else { return paths }
    for case let name as String in files {
      var info = stat()
      let path = folder + "/" + name
      if lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG {
        paths[UInt64(info.st_ino)] = path
      }
    }
    return paths
  }

  /// Takes back all writes of a file, and then does again what of them reached the disk.
  private func lose(
    _ writes: [Entry], of path: String, _ loss: Double,
    _ generator: inout some RandomNumberGenerator
  ) throws -> Int {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw TrialError("\(path) cannot be opened") }
    defer { close(descriptor) }
    var news: [[UInt8]] = []
    for write in writes.reversed() {
      var info = stat()
      fstat(descriptor, &info)
      let offset = Int(write.head.offset)
      let count = max(0, min(Int(write.head.count), Int(info.st_size) - offset))
      var new = [UInt8](repeating: 0, count: count)
      pread(descriptor, &new, count, off_t(offset))
      news.append(new)
      if !write.bytes.isEmpty {
        pwrite(descriptor, write.bytes, write.bytes.count, off_t(offset))
      }
      ftruncate(descriptor, off_t(write.head.size))
    }
    var lost = 0
    for (write, new) in zip(writes, news.reversed()) {
      let loss = write.isOnDisk ? 0 : loss
      let offset = Int(write.head.offset)
      if write.head.kind == UInt32(FAILING_DISK_CUT) {
        if Double.random(in: 0..<1, using: &generator) >= loss {
          ftruncate(descriptor, off_t(offset))
        } else {
          lost += 1
        }
        continue
      }
      var start = 0
      while start < new.count {
        let end = min(new.count, ((offset + start) / Self.sector + 1) * Self.sector - offset)
        if Double.random(in: 0..<1, using: &generator) >= loss {
          new.withUnsafeBytes {
            _ = pwrite(descriptor, $0.baseAddress! + start, end - start, off_t(offset + start))
          }
        } else {
          lost += 1
        }
        start = end
      }
    }
    return lost
  }
}

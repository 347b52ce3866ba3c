import CFailingDisk
import Foundation

/// The control of a server's disk, which can make it fail (``CFailingDisk``).
final class DiskControl: @unchecked Sendable {
  enum Fault: UInt32, CaseIterable {
    case sound = 0
    case full
    case writeError
    case syncError
    case readError
    case killBeforeSync
    case killAfterSync
    case killInWrite
    case lyingSync
    case forgettingSync
    case fullAnywhere
  }

  let path: String
  private let memory: UnsafeMutablePointer<failing_disk_control>

  init(path: String) throws {
    self.path = path
    let size = MemoryLayout<failing_disk_control>.size
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0, ftruncate(descriptor, size) == 0,
      let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      mapped != MAP_FAILED
    else { throw TrialError("\(path) cannot be mapped: \(String(cString: strerror(errno)))") }
    // PostgreSQL runs as another user.
    fchmod(descriptor, 0o666)
    close(descriptor)
    memory = mapped.assumingMemoryBound(to: failing_disk_control.self)
  }

  deinit { munmap(memory, MemoryLayout<failing_disk_control>.size) }

  /// - Parameters:
  ///   - countdown: calls that are let pass before it strikes.
  ///   - times: how often it strikes; nil is each time from then on.
  func set(_ fault: Fault, after countdown: Int = 0, times: Int? = nil) {
    memory.pointee.fault = Fault.sound.rawValue
    memory.pointee.countdown = Int32(countdown)
    memory.pointee.times = times.map { Int32($0) } ?? -1
    memory.pointee.fault = fault.rawValue
  }

  /// How often something struck, in all.
  var struck: Int { Int(memory.pointee.struck) }
  var syncs: Int { Int(memory.pointee.syncs) }
  var writes: Int { Int(memory.pointee.writes) }
}

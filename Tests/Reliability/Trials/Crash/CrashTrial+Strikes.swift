import Foundation
import HistoryChecking

extension CrashTrial {
  /// Strikes, and comes back when the server has ended or is to be killed.
  ///
  /// - Returns: whether what was to strike did.
  func end(by strike: Strike) throws -> Bool {
    guard let server = installation.server else { return false }
    let disk = installation.disk
    switch strike {
    case .anyMoment:
      pause(5...250)
      return true
    case .point:
      // Beside other servers it takes over the changes of one that is gone some seconds later.
      return TrialClock.wait(seconds: options.engine == .sqlite ? 1.5 : 8) { server.hasEnded }
    case .disk(let fault):
      disk.set(fault, after: Int.random(in: 0...80, using: &generator), times: 1)
      return TrialClock.wait(seconds: 1.5) { server.hasEnded }
    case .fault(.lyingSync):
      disk.set(.lyingSync)
      pause(200...300)
      return true
    case .fault(let fault):
      let wasStruck = fail(fault, for: 150...400)
      if Bool.random(using: &generator) {
        disk.set(.sound)
        try expectRecovery("the disk worked again")
      }
      return wasStruck
    case .postgreSQL:
      pause(20...80)
      try installation.postgreSQL?.stop()
      pause(20...200)
      try installation.postgreSQL?.startAgain()
      try expectRecovery("PostgreSQL ran again")
      return true
    case .postgreSQLDisk(let fault):
      let wasStruck = fail(fault, for: 300...900)
      disk.set(.sound)
      try expectRecovery("PostgreSQL's disk worked again")
      return wasStruck
    }
  }

  /// Lets the disk fail once, three times, or until further notice.
  ///
  /// - Returns: whether it did.
  private func fail(_ fault: DiskControl.Fault, for milliseconds: ClosedRange<Int>) -> Bool {
    let disk = installation.disk
    let struck = disk.struck
    let times = [1, 3, nil][Int.random(in: 0..<3, using: &generator)]
    pause(20...60)
    disk.set(fault, after: Int.random(in: 0...30, using: &generator), times: times)
    pause(milliseconds)
    return disk.struck > struck
  }

  /// A server that runs takes writes again by itself when what failed is well.
  private func expectRecovery(_ when: String) throws {
    guard let server = installation.server else { return }
    let answers = devices.map(\.answers)
    var isBack = false
    for _ in 0..<15 where !isBack {
      // A PostgreSQL that gave up is started again, as by its service manager.
      try installation.postgreSQL?.revive()
      isBack = TrialClock.wait(seconds: 2) {
        server.hasEnded || zip(devices, answers).contains { $0.answers > $1 + 5 }
      }
    }
    if !isBack {
      report.violations.append(
        Violation(.restart, "the server accepted no requests within 30 seconds after \(when)"))
    }
  }

  private func pause(_ milliseconds: ClosedRange<Int>) {
    TrialClock.pause(seconds: Double(Int.random(in: milliseconds, using: &generator)) / 1e3)
  }

  /// Turns a byte in the middle of each page of the store's file.
  func damageFile() throws {
    let path = folder + "/data/petrel.sqlite"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for place in stride(from: 2_048, to: bytes.count, by: 4_096) { bytes[place] ^= 0xFF }
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  func cutPower() throws {
    let losses = [0.1, 0.5, 1]
    let loss = options.sabotage == .lyingDisk ? 1 : losses[Int.random(in: 0..<3, using: &generator)]
    let result = try PowerCut(journals: installation.journals, folder: folder + "/data")
      .strike(loss: loss, using: &generator)
    installation.removeJournals()
    try loseIndex()
    report.powerCuts += 1
    report.forgottenWrites += result.forgottenWrites
    report.unsyncedWrites += result.unsyncedWrites
    report.lostSectors += result.lostSectors
    report.lostNames += result.lostNames
  }

  /// Of the log's index, which is memory that processes share, nothing may have come to the disk, or all.
  private func loseIndex() throws {
    let index = folder + "/data/petrel.sqlite-shm"
    if Bool.random(using: &generator) {
      unlink(index)
    } else {
      // It is from before the machine was started.
      var times = [timespec](repeating: timespec(tv_sec: 1, tv_nsec: 0), count: 2)
      utimensat(AT_FDCWD, index, &times, 0)
    }
  }

  /// Starts the server after a life; sometimes it is killed once more before it listens, or its
  /// disk fails.
  func restart() throws {
    if options.engine == .sqlite, options.sabotage == nil,
      Int.random(in: 0..<5, using: &generator) == 0
    {
      let faults: [DiskControl.Fault] = [
        .killBeforeSync, .killAfterSync, .killInWrite, .forgettingSync,
      ]
      let fault = faults[Int.random(in: 0..<4, using: &generator)]
      installation.disk.set(fault, after: Int.random(in: 0...6, using: &generator), times: 1)
      if try !installation.start() {
        // It need not start from a disk that fails.
        if fault != .forgettingSync { try expectKilled() }
        report.killedStarts += 1
      } else {
        installation.server?.kill()
      }
      installation.disk.set(.sound)
      if Bool.random(using: &generator) { try cutPower() }
    }
    guard try installation.start() else {
      report.violations.append(
        Violation(.restart, "the server does not start again: \(installation.complaints)"))
      throw TrialError("the server does not start again: \(installation.complaints)")
    }
    greet()
  }

  /// A server that did not come to listen was killed, and has not given up.
  func expectKilled() throws {
    guard installation.server?.wasKilled == false else { return }
    report.violations.append(
      Violation(.restart, "the server does not start: \(installation.complaints)"))
    throw TrialError("the server does not start: \(installation.complaints)")
  }
}

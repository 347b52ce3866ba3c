import Foundation
import HistoryChecking

extension CrashTrial {
  /// Waits until all is quiet, reads everything, and checks the epoch's history.
  func judge(_ epoch: Int, _ workloads: [Workload]) throws {
    sharing?.settle()
    waitUntilQuiet()
    lookAtEverything(workloads)
    try judgeShares(epoch)
    var history = History()
    for device in devices {
      history.append(device.history)
      report.add(device)
      device.history = History()
    }
    history.devices = registrations
    let prefix = Workload.prefix(epoch)
    var violations: [Violation] = []
    var judged = history
    // Pushes that the simulator has got come a moment later through its output.
    _ = TrialClock.wait(seconds: 20, every: 0.5) {
      judged = history
      for device in devices where device.device == "phone" {
        _ = device.readLog(
          reader: "judge", since: logTokens[device.user], ofSubscriptions: prefix, isLast: true)
        judged.append(device.history)
        device.history = History()
      }
      judged.pushes = installation.pushes.filter { $0.subscriptionID.hasPrefix(prefix) }
      violations = HistoryChecker.violations(of: judged)
      return violations.isEmpty
    }
    report.count(judged)
    if violations.isEmpty { report.plantFlaws(in: judged, using: &generator) }
    report.violations += violations
    report.violations += devices.flatMap(\.refused).map {
      Violation(.nothingAcknowledgedIsLost, "refused: \($0)")
    }
    if !violations.isEmpty {
      try JSONEncoder().encode(judged).write(
        to: URL(fileURLWithPath: folder + "/history-\(epoch).json"))
    }
    for device in devices where device.device == "phone" {
      logTokens[device.user] =
        device.readLog(
          reader: "", since: logTokens[device.user], ofSubscriptions: prefix)?.token
        ?? logTokens[device.user]
      device.history = History()
      device.unsubscribe(
        ["all", "high"].map { "\(prefix)\(device.user)-\($0)" }, scope: "private")
      device.unsubscribe(["\(prefix)\(device.user)-public"], scope: "public")
    }
  }

  /// Checks what the owner and the participants of shares did and saw.
  private func judgeShares(_ epoch: Int) throws {
    // What was broken on purpose does not mend itself.
    let patience = options.sabotage == nil ? 20.0 : 0
    guard let (history, violations) = sharing?.judge(patience: patience) else { return }
    for device in sharing?.devices ?? [] { report.add(device) }
    report.count(history)
    if violations.isEmpty {
      report.plantFlaws(in: history, using: &generator)
    } else {
      try JSONEncoder().encode(history).write(
        to: URL(fileURLWithPath: folder + "/sharing-\(epoch).json"))
    }
    report.violations += violations
  }

  /// Waits until nothing is to be matched, and no push waits.
  private func waitUntilQuiet() {
    var waiting: [Substring] = []
    let isQuiet = TrialClock.wait(seconds: 60, every: 0.02) {
      guard let connection = try? HTTPConnection(port: installation.port),
        let page = try? connection.send("GET", "/metrics")
      else { return false }
      let text = String(decoding: page.body, as: UTF8.self)
      let names = ["petrel_changes_waiting ", "petrel_deliveries_waiting "]
      waiting = text.split(separator: "\n").filter { line in
        names.contains { line.hasPrefix($0) } && !line.hasSuffix(" 0")
      }
      return waiting.isEmpty
    }
    if !isQuiet {
      report.violations.append(
        Violation(
          .atLeastOnce,
          "after 60 seconds, changes or deliveries still wait: \(waiting.joined(separator: ", "))"))
    }
  }
}

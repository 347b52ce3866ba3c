import CloudKitModel
import Explanation
import Storage

// Explanations as lines for people. Times are told in full for changes, and after them from there.

extension RecordExplanation {
  var lines: [String] {
    var lines = ["\(recordID)"]
    if let remark { lines.append("  \(remark)") }
    for change in changes { lines += [""] + change.lines }
    if moreComing { lines += ["", "there are older changes; --limit shows more"] }
    return lines
  }
}

extension ChangeExplanation {
  var lines: [String] {
    let start = change?.timestamp ?? dispatched ?? .now
    var lines = ["\(start.iso8601)  \(title)"]
    if let dispatched {
      lines.append("  \(after(start, dispatched))  matched")
    } else {
      lines.append("  waits to be matched")
    }
    for notification in notifications { lines += notification.lines(from: start) }
    if moreNotifications { lines.append("  and more notifications") }
    if notifications.isEmpty, dispatched != nil { lines.append("  nobody was notified") }
    guard !silent.isEmpty else { return lines }
    lines.append("  did not fire:")
    for subscription in silent { lines += subscription.lines.map { "    " + $0 } }
    if moreSilent { lines.append("    and more; --subscriber and --subscription choose") }
    return lines
  }

  private var title: String {
    guard let change else { return "a change whose values were too large to be kept" }
    var words =
      change.record.map { "\($0.recordType) \(change.event.text)" } ?? "zone \(change.event.text)"
    if let user = change.userRecordName { words += " by \(user)" }
    if let device = change.deviceID { words += " on \(device)" }
    return words
  }
}

extension NotificationExplanation {
  func lines(from start: Timestamp) -> [String] {
    let subscription = entry.notification.subscription.subscriptionID
    var lines = [
      "  \(after(start, entry.logged))  \(subscription) of \(entry.notification.subscriber) fired"
        + (isPruned ? ", too large for a push: cut there, whole in the log" : "")
    ]
    lines += deliveries.map { "    " + $0.line(from: start) }
    lines += silentDevices.map { reason in
      "    " + (reason.device.map { "\(short($0)): " } ?? "") + "no push: \(reason.text)"
    }
    return lines
  }
}

extension DeliveryExplanation {
  func line(from start: Timestamp) -> String {
    var line = "\(after(start, delivery.updated))  \(delivery.kind?.rawValue ?? "device") "
    line += "\(short(delivery.token)): \(delivery.state.rawValue)"
    if delivery.attempts > 1 { line += " at attempt \(delivery.attempts)" }
    if let newer = mergedInto?.notification.change {
      let record = newer.record.map { "record \($0.recordID.recordName)" } ?? "zone \(newer.zoneID)"
      line += " into that for \(record)"
    }
    if let reason = delivery.reason { line += ": \(reason)" }
    if delivery.state == .waiting { line += ", next try \(delivery.due.iso8601)" }
    return line
  }
}

extension SilentSubscription {
  var lines: [String] {
    ["\(subscriptionID) of \(subscriber): \(reasons.first?.text ?? "")"]
      + reasons.dropFirst().map { "  and \($0.text)" }
  }
}

extension SubscriptionExplanation {
  var lines: [String] {
    var lines: [String] = []
    if subscription == nil { lines.append("there is no such subscription") }
    if let deleted { lines.append("one of this ID was deleted at \(deleted.iso8601)") }
    if subscription != nil { lines += tally.lines }
    for firing in firings {
      let change = firing.entry.notification.change
      let record = change.record?.recordID.recordName ?? "\(change.zoneID)"
      lines += ["", "\(change.timestamp.iso8601)  \(record) \(change.event.text)"]
      lines += firing.lines(from: change.timestamp)
    }
    if firings.isEmpty { lines.append("nothing that it fired is in the log") }
    return lines
  }
}

extension SubscriptionExplanation.Tally {
  var lines: [String] {
    guard let since else { return ["no change is kept that was made since it was saved"] }
    var lines = [
      "of \(changes) changes since \(since.iso8601) it fits \(fitting), and \(lookedAtInVain) had to "
        + "be looked at in vain"
    ]
    for (filter, count) in refusals.sorted(by: { ($1.value, $0.key.text) < ($0.value, $1.key.text) }
    ) {
      lines.append("  \(filter.text) said no to \(count)")
    }
    return lines
  }
}

extension RecordDryRun {
  var lines: [String] {
    var lines = firing.map { "would fire: \($0.subscriptionID) of \($0.subscriber)" }
    if moreFiring { lines.append("and more") }
    if firing.isEmpty { lines.append("no subscription would fire") }
    guard !silent.isEmpty else { return lines }
    return lines + ["would not fire:"] + silent.flatMap(\.lines).map { "  " + $0 }
  }
}

extension SubscriptionDryRun {
  var lines: [String] {
    tally.lines
      + fitting.map { past in
        "would have fired: \((past.change?.timestamp ?? past.dispatched).iso8601)  "
          + "\(past.recordName ?? "a zone") \(past.change?.event.text ?? "changed")"
      }
  }
}

private func after(_ start: Timestamp, _ time: Timestamp) -> String {
  let milliseconds = time.milliseconds - start.milliseconds
  let seconds = String(milliseconds.magnitude / 1_000)
  let rest = String(milliseconds.magnitude % 1_000).leftPadding(to: 3)
  return (milliseconds < 0 ? "-" : "+") + seconds + "."
    + rest.replacing(" ", with: "0") + " s"
}

/// The beginning of a device's token.
private func short(_ token: String) -> String { token.count > 12 ? token.prefix(12) + "…" : token }

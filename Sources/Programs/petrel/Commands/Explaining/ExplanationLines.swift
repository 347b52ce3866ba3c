import CloudKitModel
import CommandInterface
import JSONCoding

/// The explanations of the admin API as lines for people.
///
/// The words of the answers:
///
/// - A *firing* is a change that matched a subscription, with the notification for it.
/// - A *silent* subscription did not fire for a change, or would not fire for a record.
/// - A *silent device* got no push for a notification.
/// - *Fitting* changes match a subscription; fitting subscriptions match a record.
/// - A *tally* counts the changes since a subscription was saved, by their result.
///
/// The line of a change shows its full time; later events show the seconds since the change. If a
/// user has an account, the lines show the account's name.
struct ExplanationLines {
  private let json: JSONValue
  /// Whether the answer is about some subscriptions only, so that others may have fired.
  private let isRestricted: Bool
  private let users: [String: JSONValue]

  /// Creates the lines for an answer of the admin API.
  init(_ json: JSONValue, _ arguments: Arguments) {
    self.json = json
    isRestricted = arguments.flag("subscriber") || arguments.flag("subscription")
    users = json["users"]?.object ?? [:]
  }

  // MARK: Explanations

  var ofRecord: [String] {
    var lines = [
      "\(text(json, "recordName")) in \(json["zoneID"].map { text($0, "zoneName") } ?? "")"
    ]
    if let remark = json["remark"]?.string { lines.append("  \(remark)") }
    for change in list(json, "changes") { lines += [""] + self.lines(ofChange: change) }
    if json["more"]?.bool == true {
      lines += ["", "there are older changes; --limit shows more"]
    }
    return lines
  }

  var ofSubscription: [String] {
    var lines: [String] = []
    let exists = json["exists"]?.bool == true
    if let scope = json["existsInDatabase"]?.string {
      let user = scope == "public" ? "" : " --user \(userName(json["subscriber"]?.string ?? ""))"
      lines.append(
        "the subscription is not in this database, but in the \(scope) one of \(text(json, "existsInEnvironment")); "
          + "choose that with --environment \(text(json, "existsInEnvironment")) --database \(scope)\(user)"
      )
    } else if !exists {
      lines.append("the subscription does not exist")
    }
    if let deleted = json["deleted"] {
      lines.append("a subscription with this ID was deleted at \(deleted.timeText)")
    }
    if exists { lines += tally }
    for firing in list(json, "firings") {
      let record = firing["recordName"]?.string ?? text(firing, "zoneName")
      lines += ["", "\(firing["changed"]?.timeText ?? "")  \(record) \(firing.eventText)"]
      lines += self.lines(ofNotification: firing, from: firing["changed"]?.int ?? 0)
    }
    if list(json, "firings").isEmpty {
      lines.append("the log has no notification of this subscription")
    }
    return lines
  }

  var ofRecordDryRun: [String] {
    let firing = list(json, "firing")
    var lines = firing.map { "would fire: \(name(ofSubscription: $0))" }
    if json["moreFiring"]?.bool == true {
      lines.append(json["fitting"]?.int.map { "and more: \($0) match in total" } ?? "and more")
    }
    if firing.isEmpty { lines.append("no subscription would fire") }
    let silent = list(json, "silent")
    if !silent.isEmpty {
      lines.append("would not fire:")
      lines += silent.flatMap { self.lines(ofSilent: $0) }.map { "  " + $0 }
    }
    if json["more"]?.bool == true {
      lines.append(
        "\(json["lookedAt"]?.int ?? 0) subscriptions were examined, and there are more; choose with "
          + "--subscriber and --subscription")
    }
    return lines
  }

  var ofSubscriptionDryRun: [String] {
    tally
      + list(json, "fitting").map { past in
        "would have fired: \(past["time"]?.timeText ?? "")  "
          + "\(past["recordName"]?.string ?? "a zone") \(past.eventText)"
      }
      + (json["more"]?.bool == true
        ? ["the history has older changes, which were not examined"] : [])
  }

  // MARK: Parts

  /// Returns the lines of a change, with its notifications and the subscriptions that did not fire.
  private func lines(ofChange change: JSONValue) -> [String] {
    let start = change["time"]?.int ?? 0
    var lines = ["\(change["time"]?.timeText ?? "")  \(title(ofChange: change))"]
    let matched = list(change, "steps").first { $0["step"]?.string == "matched" }
    if let matched {
      lines.append("  \(after(start, matched["time"]))  matched")
    } else {
      lines.append("  waits to be matched")
    }
    let notifications = list(change, "notifications")
    for notification in notifications {
      lines += self.lines(ofNotification: notification, from: start)
    }
    if change["moreNotifications"]?.bool == true { lines.append("  and more notifications") }
    if notifications.isEmpty, matched != nil {
      lines.append(
        isRestricted
          ? "  none of the subscriptions in question fired; others may have"
          : "  nobody was notified")
    }
    let silent = list(change, "silent")
    guard !silent.isEmpty else { return lines }
    lines.append("  did not fire:")
    for subscription in silent { lines += self.lines(ofSilent: subscription).map { "    " + $0 } }
    if change["moreSilent"]?.bool == true {
      lines.append("    and more; choose with --subscriber and --subscription")
    }
    return lines
  }

  private func title(ofChange change: JSONValue) -> String {
    var words = (change["recordType"]?.string ?? "zone") + " " + change.eventText
    if let user = change["changedBy"]?.string { words += " by \(name(ofUser: user))" }
    if let device = change["device"]?.string { words += " on \(device)" }
    if let request = change["request"]?.string { words += ", request \(request)" }
    if change["valuesKept"]?.bool == false {
      words += "; its values were too large for the history"
    }
    return words
  }

  /// Returns the text that names the parts of a notification that did not fit into its push; empty
  /// if the push has all parts.
  private func cut(_ notification: JSONValue) -> String {
    guard notification["pruned"]?.bool == true else { return "" }
    let parts = (notification["prunedParts"]?.array ?? []).compactMap(\.string)
    return ", the push lacks \(parts.joined(separator: ", ")); the log has the whole notification"
  }

  /// Returns the lines of a notification, with its deliveries and the devices without a push.
  ///
  /// - Parameter start: The time of the change, in milliseconds since 1970.
  private func lines(ofNotification notification: JSONValue, from start: Int64) -> [String] {
    var lines = [
      "  \(after(start, notification["logged"]))  \(name(ofSubscription: notification)) fired"
        + cut(notification)
    ]
    lines += list(notification, "deliveries").map { "    " + line(ofDelivery: $0, from: start) }
    lines += list(notification, "silentDevices").map { reason in
      "    " + (reason["device"]?.string.map { "\(short($0)): " } ?? "") + "no push: "
        + text(reason, "text")
    }
    return lines
  }

  /// Returns the line of a delivery: the push of a notification to one device.
  ///
  /// - Parameter start: The time of the change, in milliseconds since 1970.
  private func line(ofDelivery delivery: JSONValue, from start: Int64) -> String {
    var line = "\(after(start, delivery["updated"]))  \(delivery["kind"]?.string ?? "device") "
    line += "\(short(text(delivery, "device"))): \(text(delivery, "state"))"
    if let attempts = delivery["attempts"]?.int, attempts > 1 {
      line += " at attempt \(attempts)"
    }
    if delivery["mergedIntoNotification"] != nil {
      let record = delivery["mergedIntoRecord"]?.string.map { "record \($0)" } ?? "its zone"
      line += " into the push for \(record)"
    }
    if let reason = delivery["reason"]?.string { line += ": \(reason)" }
    if let due = delivery["due"] { line += ", next try \(due.timeText)" }
    return line
  }

  /// Returns the lines of a subscription that did not fire. The first line has the subscription's
  /// name and the first reason. Each other reason has a line of its own.
  private func lines(ofSilent subscription: JSONValue) -> [String] {
    let reasons = list(subscription, "reasons").map { text($0, "text") }
    return ["\(name(ofSubscription: subscription)): \(reasons.first ?? "")"]
      + reasons.dropFirst().map { "  and \($0)" }
  }

  private var tally: [String] {
    guard let tally = json["tally"], let since = tally["since"] else {
      return ["the history has no change since the subscription was saved"]
    }
    func count(_ name: String) -> Int64 { tally[name]?.int ?? 0 }
    return [
      "of \(count("changes").counting("change")) since \(since.timeText), \(count("fitting")) match and "
        + "\(count("checkedWithoutMatch")) were checked without a match"
    ]
      + list(tally, "refusals").map { refusal in
        "  \(text(refusal, "filter")) refused \(refusal["count"]?.int ?? 0)"
      }
  }

  // MARK: Words

  private func text(_ json: JSONValue, _ member: String) -> String { json[member]?.string ?? "" }

  private func list(_ json: JSONValue, _ member: String) -> [JSONValue] {
    json[member]?.array ?? []
  }

  private func name(ofSubscription json: JSONValue) -> String {
    "\(text(json, "subscriptionID")) of \(name(ofUser: text(json, "subscriber")))"
  }

  private func userName(_ recordName: String) -> String {
    users[recordName]?.string ?? recordName
  }

  /// Returns the account's name followed by the user record name in parentheses. Without an
  /// account, the result is only the user record name.
  private func name(ofUser recordName: String) -> String {
    users[recordName]?.string.map { "\($0) (\(recordName))" } ?? recordName
  }

  private func short(_ token: String) -> String {
    token.count > 12 ? token.prefix(12) + "…" : token
  }

  /// Returns the seconds between two times, such as `+0.125 s`. If `time` is missing, they are 0.
  private func after(_ start: Int64, _ time: JSONValue?) -> String {
    let milliseconds = (time?.int ?? start) - start
    let seconds = String(milliseconds.magnitude / 1_000)
    let rest = String(milliseconds.magnitude % 1_000).leftPadding(to: 3)
    return (milliseconds < 0 ? "-" : "+") + seconds + "." + rest.replacing(" ", with: "0") + " s"
  }
}

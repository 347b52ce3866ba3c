import CloudKit

/// Prints lines at once, also into a pipe.
func show(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

/// Returns the text about a push: as APNs received it, as CloudKit reads it, and as the user reads
/// it.
func describe(_ push: ArrivedPush, for subscriber: String, from strings: PetrelStrings) -> String {
  let headers = push.headers.filter { $0.key.hasPrefix("apns-") }.sorted { $0.key < $1.key }
    .map { "\($0.key): \($0.value)" }
  return """
    ── push for \(subscriber)
       \(headers.joined(separator: "  "))
       \(push.payloadText)
       \(describe(push.notification))
       \(alertText(of: push.notification, from: strings))
    """
}

/// The title and the text, in the user's language where the app has strings for them.
private func alertText(of notification: CKNotification?, from strings: PetrelStrings) -> String {
  let alert = notification?.petrelAlert(from: strings)
  let texts = [alert?.title, alert?.body].compactMap(\.self)
  return texts.isEmpty ? "nothing to show" : texts.joined(separator: " – ")
}

private func describe(_ notification: CKNotification?) -> String {
  guard let query = notification as? CKQueryNotification else { return "no CloudKit notification" }
  var parts = [
    "CKQueryNotification", "subscription \(query.subscriptionID ?? "?")",
    "record \(query.recordID?.recordName ?? "?")", "reason \(query.queryNotificationReason)",
  ]
  if let fields = query.recordFields {
    let values = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    parts.append("fields " + values.joined(separator: " "))
  }
  if query.isPruned { parts.append("pruned") }
  return parts.joined(separator: ", ")
}

func showProgress(_ done: Int, of total: Int, pushes: Int) {
  let width = 30
  let filled = done * width / max(1, total)
  let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
  show("\(bar) \(done)/\(total) records saved, \(pushes) pushes")
}

func table(_ rows: [(String, String)]) -> String {
  let left = rows.map(\.0.count).max() ?? 0
  let right = rows.map(\.1.count).max() ?? 0
  let line = String(repeating: "─", count: left + right + 5)
  let body = rows.map { name, value in
    "│ " + name + String(repeating: " ", count: left - name.count) + " "
      + String(repeating: " ", count: right - value.count) + value + " │"
  }
  return (["┌" + line.dropLast(2) + "┐"] + body + ["└" + line.dropLast(2) + "┘"])
    .joined(separator: "\n")
}

func milliseconds(_ sorted: [Double], _ quantile: Double) -> String {
  guard !sorted.isEmpty else { return "–" }
  let index = min(sorted.count - 1, Int(quantile * Double(sorted.count)))
  return String(format: "%.1f ms", sorted[index] * 1000)
}

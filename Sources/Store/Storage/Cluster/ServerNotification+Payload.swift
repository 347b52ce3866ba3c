import StoreModel

extension ServerNotification {
  /// The most bytes of a payload. PostgreSQL's limit is below 8,000 bytes.
  private static let lengthLimit = 7_500

  /// The payload of PostgreSQL's notification, as text:
  ///
  /// ```
  /// joined 7                        server 7 has joined
  /// wake                            a wake-up
  /// announced 7 12 all              announcement 12 of server 7, for all users
  /// announced 7 12 some             for the users that follow, one record name a line
  /// announced 7 12 omitted          for users who are in the table alone: the text was too long
  /// ```
  ///
  /// ``ServerNotification/interrupted`` has an empty payload, because no server sends it.
  var payload: String {
    switch self {
    case .joined(let server): return "joined \(server.rawValue)"
    case .wakeUp: return "wake"
    case .announced(let name, let announcement):
      let head = "announced \(name.server) \(name.number)"
      guard let announcement else { return head + " omitted" }
      guard let subscribers = announcement.subscribers else { return head + " all" }
      let text = head + " some\n" + Announcement.text(of: subscribers)
      return text.utf8.count <= Self.lengthLimit ? text : head + " omitted"
    case .interrupted: return ""
    }
  }

  /// Reads a payload; nil for an unknown one, such as a later version's.
  ///
  /// The text after `some` may have any characters except a line end.
  init?(payload: String) {
    let lines = payload.utf8.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
      .map { Substring($0) }
    let words = (lines.first ?? "").split(separator: " ")
    func number(_ place: Int) -> Int64? { words.count > place ? Int64(words[place]) : nil }
    switch (words.first, words.last) {
    case ("wake", _): self = .wakeUp
    case ("joined", _):
      guard let server = number(1) else { return nil }
      self = .joined(ServerID(rawValue: server))
    case ("announced", let extent?):
      guard let server = number(1), let number = number(2) else { return nil }
      let name = AnnouncementName(server: server, number: number)
      switch extent {
      case "omitted": self = .announced(name, nil)
      case "all": self = .announced(name, Announcement(subscribers: nil))
      case "some":
        self = .announced(name, Announcement(text: lines.count > 1 ? String(lines[1]) : ""))
      default: return nil
      }
    default: return nil
    }
  }
}

extension Announcement {
  /// The subscribers' names, one a line.
  ///
  /// They are sorted, so that equal sets give equal texts.
  static func text(of subscribers: Set<String>) -> String {
    subscribers.sorted().joined(separator: "\n")
  }

  /// Reads the names of ``text(of:)``.
  ///
  /// - Parameter text: names, one a line; empty for all users.
  init(text: String) {
    // Split by bytes: a name's last character and the line end may form one `Character`.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
    let names = Set(lines.map { String(Substring($0)) })
    self.init(subscribers: names.isEmpty ? nil : names)
  }
}

import StoreModel

extension ServerNotification {
  /// The most bytes of a payload. PostgreSQL's own limit is 7,999 bytes.
  private static let lengthLimit = 7_500

  /// A server sends `announced … omitted` if the record names do not fit.
  ///
  /// ```
  /// joined 7                        server 7 has joined
  /// wake                            a wake-up
  /// announced 7 12 all              announcement 12 of server 7, for all users
  /// announced 7 12 some             for the users on the next lines
  /// announced 7 12 omitted          for the users that the table has
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

  /// Returns nil for an unknown payload, such as one of a later version of Petrel. The record names
  /// after `some` may have any characters except a line feed.
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
  /// The names are sorted, so that equal sets give equal texts.
  static func text(of subscribers: Set<String>) -> String {
    subscribers.sorted().joined(separator: "\n")
  }

  init(text: String) {
    // The text is split by bytes, because a name's last character and the line feed may form one
    // `Character`.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
    let names = Set(lines.map { String(Substring($0)) })
    self.init(subscribers: names.isEmpty ? nil : names)
  }
}

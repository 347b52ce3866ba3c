/// What requests are called in metrics: one of a few names, whatever their paths are.
struct OperationNames: Sendable {
  /// What stands for requests that name no operation there is.
  static let other = "other"
  /// The polls and event streams of the web courier.
  static let courier = "aps"

  private let known: Set<String>

  /// - Parameter known: the operations of the protocol, such as `records/modify`.
  init(_ known: some Sequence<String>) {
    self.known = Set(known)
  }

  /// The operation that a path names.
  func name(ofPath path: String) -> String {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"))
    guard let first = parts.first.map({ String(Substring($0)) }) else { return Self.other }
    switch first {
    case "database", "device": break
    case Self.courier, "assets", "sign-in", "admin", "console": return first
    default: return Self.other
    }
    // Behind the version, the container and the environment; a database may come first.
    var rest = parts.dropFirst(4)
    if let word = rest.first.map({ Substring($0) }), ["public", "private", "shared"].contains(word)
    {
      rest = rest.dropFirst()
    }
    guard let begin = rest.first?.startIndex else { return Self.other }
    let name = String(path[begin...])
    return known.contains(name) ? name : Self.other
  }
}

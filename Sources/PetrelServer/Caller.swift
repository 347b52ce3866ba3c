/// Who makes a request.
public enum Caller: Sendable, Hashable {
  /// Nobody who is known: may read the public database.
  case anonymous
  case user(userRecordName: String)

  var userRecordName: String? {
    if case .user(let name) = self { return name }
    return nil
  }
}

import CloudKitModel
import StoreModel

/// The state of one session token, which decides when the token gets a successor. It is a value
/// without I/O.
///
/// A session is one sign-in of a user in a web app. A successor is a newer token of the same
/// session, which the app should use from then on.
///
/// A token that is ``interval`` seconds old gets a successor at its next request. The server
/// accepts both tokens until a request arrives with the successor, which proves that the client has
/// received it. From then on the server accepts all older tokens of the session for ``grace``
/// seconds only.
///
/// A client that lost an answer therefore still has a valid token. A client that ignores successors
/// can use its token until the token expires. A server usually writes at most twice a minute for a
/// session.
struct SessionRotation: Sendable {
  /// The age in seconds at which a token in use gets a successor.
  static let interval = 60.0
  /// Seconds for which older tokens are accepted after the first use of a successor.
  static let grace = 600.0

  /// An event of the token.
  enum Event: Sendable {
    /// A request with the token has arrived at the time `now`. The first value is the token as the
    /// store has it.
    case request(WebAuthToken, now: Timestamp)
    /// The store has executed the last write. `successor` is the token that the write has added;
    /// nil if it has added none.
    case done(successor: Successor?)
    /// The store has failed to execute the last write.
    case failed
  }

  /// The work for the store.
  enum Action: Sendable, Hashable {
    case nothing
    /// Write to the store. `adopts`: mark the token as used, and shorten the lives of older tokens
    /// of the session. `makesSuccessor`: add a successor. At least one of them is true.
    case write(adopts: Bool, makesSuccessor: Bool)
  }

  /// A token that follows another.
  struct Successor: Sendable, Hashable {
    var text: String
    var created: Timestamp
  }

  /// The token that the client must use next; nil if the client keeps this token.
  private(set) var successor: Successor?
  /// Whether the store has marked the token as used.
  private var isAdopted = false
  /// Whether a write is under way. Until the write ends, requests cause no further write.
  private var isWriting = false

  mutating func handle(_ event: Event) -> Action {
    switch event {
    case .request(let token, let now):
      guard let session = token.session, !isWriting else { return .nothing }
      isAdopted = isAdopted || session.isUsed
      let makesSuccessor =
        now.seconds - token.created.seconds >= Self.interval
        && isStale(now: now, lifetime: session.lifetime)
      guard !isAdopted || makesSuccessor else { return .nothing }
      isWriting = true
      return .write(adopts: !isAdopted, makesSuccessor: makesSuccessor)
    case .done(let successor):
      isWriting = false
      isAdopted = true
      self.successor = successor ?? self.successor
      return .nothing
    case .failed:
      isWriting = false
      return .nothing
    }
  }

  /// Whether the token needs a new successor: it has none, or its successor is at least as old as a
  /// quarter of the session's lifetime (in seconds).
  private func isStale(now: Timestamp, lifetime: Double) -> Bool {
    guard let successor else { return true }
    return now.seconds - successor.created.seconds >= lifetime / 4
  }
}

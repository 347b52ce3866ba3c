/// The decision whether the server stores further bytes of requests, so that clients with bodies that
/// never end leave space for others. It is a value without I/O. One value counts the bytes in memory,
/// another one those in files.
///
/// 1. All bytes together have a limit.
/// 2. Large bodies have a lower limit together, so that small requests find space beside them.
/// 3. A host may hold half as many bytes as are free, a network as many as are free, an account a
///    quarter as many.
///
/// By rule 3, however many clients hold all that they may, the next one still finds space: *n*
/// networks that take everything leave 1/(*n* + 1) free. The rule is that of A. Choudhury and
/// E. Hahne, Dynamic queue length thresholds for shared-memory packet switches (1998).
///
/// - Complexity: O(1) for each call.
struct ByteAdmission: Sendable {
  /// The limits in bytes.
  struct Limits: Sendable, Hashable {
    var all: Int
    /// The bytes of all large bodies, at most ``all``.
    var large: Int
    /// The size above which a body is large.
    var smallBody: Int
  }

  /// The bytes that one request holds.
  struct Holding: Sendable, Hashable {
    /// The client's host and network; `nil` for clients that have no share of their own, because
    /// the server cannot distinguish them.
    var peer: PeerAddress?
    /// The account that the request is for; `nil` if it has no share of its own.
    var account: String?
    fileprivate(set) var count = 0
    fileprivate(set) var isLarge = false

    init(peer: PeerAddress? = nil, account: String? = nil) {
      self.peer = peer
      self.account = account
    }
  }

  let limits: Limits
  /// The bytes of all requests.
  private(set) var taken = 0
  private var large = 0
  private var byHost = Amounts<PeerAddress.Prefix>()
  private var byNetwork = Amounts<PeerAddress.Prefix>()
  private var byAccount = Amounts<String>()

  init(_ limits: Limits) { self.limits = limits }

  /// Returns the reason against `count` more bytes. 0 bytes stand for the beginning of a request.
  func refusal(of count: Int, for holding: Holding) -> HTTPRefusal.Reason? {
    var available = limits.all - taken
    if holding.isLarge {
      available = min(available, limits.large - large)
    } else if holding.count + count > limits.smallBody {
      // The bytes that the body has already become those of a large one.
      available = min(available, limits.large - large - holding.count)
    }
    if available < max(1, count) { return .tooManyBytes }
    if let peer = holding.peer {
      if byHost[peer.host] + count > available / 2 { return .tooManyBytesOfAddress }
      if byNetwork[peer.network] + count > available { return .tooManyBytesOfNetwork }
    }
    if let account = holding.account, byAccount[account] + count > available / 4 {
      return .tooManyBytesOfAccount
    }
    return nil
  }

  /// Gives a request `count` bytes more, or returns the reason of a refusal.
  mutating func take(_ count: Int, for holding: inout Holding) -> HTTPRefusal.Reason? {
    if let reason = refusal(of: count, for: holding) { return reason }
    if !holding.isLarge, holding.count + count > limits.smallBody {
      holding.isLarge = true
      large += holding.count
    }
    add(count, to: &holding)
    return nil
  }

  /// Counts bytes that the server has already, such as those of an answer. They may exceed the
  /// limits.
  mutating func add(_ count: Int, to holding: inout Holding) {
    change(by: count, holding)
    holding.count += count
  }

  mutating func giveBack(_ holding: inout Holding) {
    change(by: -holding.count, holding)
    holding.count = 0
    holding.isLarge = false
  }

  private mutating func change(by change: Int, _ holding: Holding) {
    guard change != 0 else { return }
    taken += change
    if holding.isLarge { large += change }
    if let peer = holding.peer {
      byHost.add(change, to: peer.host)
      byNetwork.add(change, to: peer.network)
    }
    if let account = holding.account { byAccount.add(change, to: account) }
  }

  /// The number of hosts, networks and accounts with a count, for tests.
  var remembered: Int { byHost.keyCount + byNetwork.keyCount + byAccount.keyCount }
}

/// Everything that the owner and the participants of shares did and saw.
public struct SharingHistory: Codable, Sendable {
  /// An event of a user's part in a share.
  public struct PartEvent: Codable, Hashable, Sendable {
    public enum Effect: String, Codable, Sendable {
      case invited
      case accepted
      /// The owner removed the user, or ended the share. An invitation ends too.
      case removed
      /// The user left. An invitation that the user had not accepted stays.
      case left

      var isEnd: Bool { self == .removed || self == .left }
    }

    public var user: String
    public var share: String
    public var effect: Effect
    public var span: Span
    /// Whether the server answered that it has happened; else it may have happened within the span.
    public var isCertain: Bool

    public init(
      user: String, share: String, effect: Effect, span: Span, isCertain: Bool = true
    ) {
      self.user = user
      self.share = share
      self.effect = effect
      self.span = span
      self.isCertain = isCertain
    }
  }

  /// A creation or deletion of a record. Each record is created once, and deleted at most once.
  public struct Change: Codable, Hashable, Sendable {
    public struct Subject: Codable, Hashable, Sendable {
      public var name: String
      public var isDeletion: Bool

      public init(name: String, isDeletion: Bool) {
        self.name = name
        self.isDeletion = isDeletion
      }
    }

    /// The user who made the change.
    public var user: String
    /// The share that shows the record; nil if none does.
    public var share: String?
    public var subject: Subject
    public var span: Span
    /// Whether the change was committed; nil while that is not known.
    public var hasHappened: Bool?

    public init(user: String, share: String?, subject: Subject, span: Span, hasHappened: Bool?) {
      self.user = user
      self.share = share
      self.subject = subject
      self.span = span
      self.hasHappened = hasHappened
    }
  }

  /// An attempt to read a share's records.
  public struct Look: Codable, Hashable, Sendable {
    public var user: String
    public var share: String
    public var span: Span
    public var hasSeen: Bool

    public init(user: String, share: String, span: Span, hasSeen: Bool) {
      self.user = user
      self.share = share
      self.span = span
      self.hasSeen = hasSeen
    }
  }

  public var parts: [PartEvent] = []
  public var changes: [Change] = []
  public var looks: [Look] = []
  /// The owner's log: the notification IDs of all changes, in order.
  public var order: [String] = []
  /// The changes of records in the owner's log, by notification ID, in order.
  public var subjects: [Entry] = []
  /// The notification IDs in the participants' logs, in order.
  public var heard: [String: [String]] = [:]

  /// A notification of the owner's query subscription.
  public struct Entry: Codable, Hashable, Sendable {
    public var notificationID: String
    public var subject: Change.Subject

    public init(notificationID: String, subject: Change.Subject) {
      self.notificationID = notificationID
      self.subject = subject
    }
  }

  public init() {}

  /// How many events and log entries there are.
  public var count: Int {
    parts.count + changes.count + looks.count + order.count + subjects.count
      + heard.values.reduce(0) { $0 + $1.count }
  }

  /// Adds what another observer did and saw. Logs are added by user.
  public mutating func append(_ other: SharingHistory) {
    parts += other.parts
    changes += other.changes
    looks += other.looks
  }
}

import CloudKitModel

/// The number under which the store keeps one CloudKit database. Every table that grows begins its
/// primary key with it, so that the tables can be distributed by it.
public struct DatabaseID: Sendable, Hashable, Comparable {
  public var rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static func < (left: DatabaseID, right: DatabaseID) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// An account of this server. A user has one record name in all its containers.
public struct User: Sendable, Hashable {
  public var name: String
  /// `_` and 32 hexadecimal digits.
  public var userRecordName: String
  public var created: Timestamp
  public var profile: UserProfile

  public init(
    name: String, userRecordName: String, created: Timestamp, profile: UserProfile = UserProfile()
  ) {
    self.name = name
    self.userRecordName = userRecordName
    self.created = created
    self.profile = profile
  }
}

/// Who made a request, and from which device.
public struct ChangeOrigin: Sendable, Hashable {
  public var userRecordName: String
  /// The name that the client gave for its device (`clientId`).
  public var deviceID: String?

  public init(userRecordName: String, deviceID: String? = nil) {
    self.userRecordName = userRecordName
    self.deviceID = deviceID
  }
}

/// A zone of a database.
public struct Zone: Sendable, Hashable {
  public var zoneID: ZoneID
  /// Rises with each commit in the zone.
  public var version: Int64
  /// The change token of a reader who has all of the zone up to this version; nil for the default
  /// zone, which has no feed.
  public var changeToken: String?

  public init(zoneID: ZoneID, version: Int64, changeToken: String? = nil) {
    self.zoneID = zoneID
    self.version = version
    self.changeToken = changeToken
  }
}

/// A subscription with its owner, as the matching index needs it.
public struct StoredSubscription: Sendable, Hashable {
  /// The owner's user record name.
  public var subscriber: String
  public var subscription: Subscription
  /// The database's subscription version at which it was first saved. A change fires it when the
  /// change was committed at this version or later.
  public var version: Int64

  public init(subscriber: String, subscription: Subscription, version: Int64) {
    self.subscriber = subscriber
    self.subscription = subscription
    self.version = version
  }
}

/// Names one subscription in a database.
public struct SubscriptionName: Sendable, Hashable {
  public var subscriber: String
  public var subscriptionID: String

  public init(subscriber: String, subscriptionID: String) {
    self.subscriber = subscriber
    self.subscriptionID = subscriptionID
  }
}

/// What became of a database's subscriptions since a version.
public struct SubscriptionChanges: Sendable {
  /// The database's subscription version that these changes lead to.
  public var version: Int64
  public var saved: [StoredSubscription]
  public var deleted: [SubscriptionName]
  /// Whether the asked-for version is older than what is remembered of deletions: `saved` then
  /// holds every subscription, and the reader starts anew.
  public var isComplete: Bool

  public init(
    version: Int64, saved: [StoredSubscription], deleted: [SubscriptionName], isComplete: Bool
  ) {
    self.version = version
    self.saved = saved
    self.deleted = deleted
    self.isComplete = isComplete
  }
}

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
  /// Whether the account and all that is the user's is being deleted: see ``UserDeletion``.
  public var isBeingDeleted = false

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
  /// The request that makes the change; nil for what no request makes.
  public var request: RequestUUID?

  public init(userRecordName: String, deviceID: String? = nil, request: RequestUUID? = nil) {
    self.userRecordName = userRecordName
    self.deviceID = deviceID
    self.request = request
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

extension StoredSubscription {
  public var name: SubscriptionName {
    SubscriptionName(subscriber: subscriber, subscriptionID: subscription.subscriptionID)
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

/// How far a reader has followed the subscriptions of a database.
public struct SubscriptionPosition: Sendable, Hashable {
  /// The reader has what became of them up to this version.
  public var version: Int64
  /// Deletions up to this version were forgotten before the reader began, so that it misses none of
  /// them.
  public var forgottenVersion: Int64

  /// Before everything.
  public static let beginning = SubscriptionPosition(version: 0, forgottenVersion: 0)

  public init(version: Int64, forgottenVersion: Int64) {
    self.version = version
    self.forgottenVersion = forgottenVersion
  }
}

/// What became of a database's subscriptions since a position.
public struct SubscriptionChanges: Sendable {
  /// What these changes lead to.
  public var position: SubscriptionPosition
  public var saved: [StoredSubscription]
  public var deleted: [SubscriptionName]
  /// Whether these are the first of all changes: the reader has nothing yet, or deletions were
  /// forgotten that it has not heard of. It drops what it has.
  public var startsAnew: Bool
  /// Whether there are later ones.
  public var moreComing: Bool

  public init(
    position: SubscriptionPosition, saved: [StoredSubscription],
    deleted: [SubscriptionName], startsAnew: Bool, moreComing: Bool
  ) {
    self.position = position
    self.saved = saved
    self.deleted = deleted
    self.startsAnew = startsAnew
    self.moreComing = moreComing
  }
}

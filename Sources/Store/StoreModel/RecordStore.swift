import CloudKitModel

/// The durable store behind the server.
///
/// Every write is one transaction and is durable when the call returns: power may go at that
/// moment. Writes that wait at the same time share one commit, each under its own savepoint, so
/// that a request's atomicity is its own. A call that throws has kept nothing.
///
/// All methods throw ``StoreError`` when the store itself fails; what is wrong with single items is
/// in the outcomes. ``StoreError/Code/overloaded`` is thrown at once when too many writes wait.
public protocol RecordStore: NotificationLogStore, AssetRegistry, SchemaStore, SignInStore,
  CredentialStore, ChangeHistoryStore
{
  /// What those who run the server do with the store.
  var administration: any AdministrationStore { get }
  /// What servers that share the store know of each other; nil when one server has it alone.
  var servers: (any ServerStore)? { get }
  /// Seconds that the store's clock is ahead of this machine's; 0 when one server has it alone.
  var clockOffset: Double { get }

  /// Seals what clients are given to keep.
  var tokens: TokenCipher { get }

  /// Where servers count together what they count; nil for a store that one server has for itself.
  var sharedLimits: (any SharedLimits)? { get }

  /// What users, databases and containers may have at most.
  var quotas: StoreQuotas { get }

  // MARK: Databases

  /// The number of the database at this address; made on first use.
  func database(at address: DatabaseAddress) async throws -> DatabaseID
  func address(of database: DatabaseID) async throws -> DatabaseAddress
  /// How much a private or public database holds; nil for a shared one. Exact after each commit.
  func usage(of database: DatabaseID) async throws -> DatabaseUsage?

  // MARK: Users

  /// Makes an account. Throws ``StoreError/Code/exists`` when another user has the name, the e-mail
  /// address or the phone number.
  func addUser(
    named name: String, profile: UserProfile, at timestamp: Timestamp
  ) async throws -> User
  func user(named name: String) async throws -> User?
  func user(withRecordName userRecordName: String) async throws -> User?
  func users() async throws -> [User]
  func addWebAuthToken(_ token: WebAuthToken) async throws
  func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken?

  // MARK: Discovery

  /// What a user has decided to permit the app of a container, or not. What the user was not asked
  /// for is absent.
  func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status]
  func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws
  /// The users who are looked for, in the order asked for; nil for those who do not exist or do not
  /// permit it to be found.
  func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?]
  /// Users who permit it to be found, in the order of their record names.
  func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User]

  // MARK: Records

  /// Carries out the operations in order; one outcome for each.
  ///
  /// - A zone that does not exist is a ``ItemFailure/Code/zoneNotFound`` (the default zone exists
  ///   always).
  /// - The type of a field is fixed by the first value saved in it; another type is refused with
  ///   the record, the field and both types. Integers are accepted in a double field and stored as
  ///   doubles.
  /// - With ``RecordModification/isAtomic`` a failure in a custom zone undoes the zone's other
  ///   operations, whose outcomes become ``ItemFailure/Code/atomic``.
  /// - Deleting the target of a `deleteSelf` reference deletes the holder too, recursively.
  /// - A record that appears twice in a request is refused the second time.
  ///
  /// The changes reach the outbox in the same transaction, and ``setCommitHandler(_:)``'s handler
  /// right after the commit.
  func modifyRecords(_ modification: RecordModification) async throws -> [RecordOutcome]
  /// The records of these IDs, nil for those that do not exist, in the order asked for.
  func records(_ recordIDs: [RecordID], in database: DatabaseID) async throws -> [Record?]
  /// Throws ``ItemFailure`` for a filter that does not fit the type of its field or a zone that
  /// does not exist.
  func records(matching query: RecordQuery, in database: DatabaseID) async throws -> RecordPage

  /// What a user, or an anonymous caller, may do with records of these types, by the grants as they
  /// are now.
  func access(
    of userRecordName: String?, toTypes names: Set<String>, in database: DatabaseID
  ) async throws -> [String: RecordAccess]

  // MARK: Zones

  func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome]
  /// Every zone, the default zone first.
  func zones(in database: DatabaseID) async throws -> [Zone]

  // MARK: Change feeds

  /// What became of a zone's records since a change token.
  ///
  /// - Each record appears once, with its latest state or as deleted, in the order of the last
  ///   changes (or the opposite one). A page shows one state of the zone; what is committed while a
  ///   client goes from page to page comes on a later page, or after the last.
  /// - Throws ``ItemFailure``: ``ItemFailure/Code/zoneNotFound``, ``ItemFailure/Code/zoneDeleted``,
  ///   and ``ItemFailure/Code/invalid`` for the default zone, which has no feed but in the public
  ///   database; and
  ///   ``StoreError/Code/changeTokenExpired``, and ``StoreError/Code/badContinuation`` for a token of
  ///   the database's feed, or of a feed in reverse that is asked for in order.
  func recordChanges(
    matching query: RecordChangesQuery, in database: DatabaseID
  ) async throws -> RecordChangesPage
  /// Which zones but the default zone changed or were deleted since a change token, each once, in
  /// the order of their last changes.
  ///
  /// - Throws: ``StoreError/Code/changeTokenExpired``, and ``StoreError/Code/badContinuation`` for a
  ///   token of a zone's feed.
  func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID
  ) async throws -> ZoneChangesPage

  // MARK: Subscriptions

  /// Saves and deletes subscriptions of one user. Desired keys are checked against the schema where
  /// it knows the field; a zone that a subscription names must exist.
  ///
  /// - Parameter refusesEqualContent: whether a subscription that watches for the same as another of
  ///   the user's with a different ID is refused with ``ItemFailure/Code/exists``.
  func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    refusesEqualContent: Bool, timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome]
  /// A user's subscriptions in order of their IDs.
  func subscriptions(of subscriber: String, in database: DatabaseID) async throws -> [Subscription]
  /// What became of the subscriptions of a part's users since `position`, in the order of their versions.
  ///
  /// About `limit` changes of the database come at once, and always all of one version. Who reads on from
  /// ``SubscriptionChanges/position`` while ``SubscriptionChanges/moreComing`` holds has, in the end,
  /// what the store has, whatever was saved and deleted meanwhile.
  func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges

  // MARK: Dispatch

  /// Is called with the changes of each commit, in the order of the commits, from the writer's
  /// thread: it must not block. The outbox holds the same changes, for when it could not take them.
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?)
  /// Sets what is called, on a writer's thread, after a commit failed in a way that left open whether it
  /// is there, as when the connection to the database server is cut in it. By the time of the call that
  /// is decided. Its changes did not go to the commit handler: they stand in the outbox or never will.
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?)
  /// The databases with changes in the outbox that wait to be dispatched.
  func undispatchedDatabases() async throws -> [DatabaseID]
  /// The oldest changes of a database after `sequence` that wait to be dispatched to a part of it, in
  /// order. The first may be settled for some subscriptions: ``OutboxEntry/settledThrough``.
  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry]
  /// Encodes what ``completeDispatch(of:timestamp:leasing:)`` will write of a change.
  ///
  /// Encoding takes time for many firings. A caller that prepares a change while an earlier transaction is
  /// written spends that time beside it. Of a change that nobody prepared, `completeDispatch` encodes the
  /// same before its transaction begins.
  func prepare(_ change: inout MatchedChange)
  /// Writes what the changes led to, in one transaction: log entries, deliveries to the APNs tokens
  /// of each subscriber but the device of origin, badge counts, deletion of `firesOnce`
  /// subscriptions, and that the changes are dispatched. A change of which only a part of the firings
  /// is told (``MatchedChange/isWhole``) goes on waiting for the others.
  ///
  /// A change that is dispatched already, or as far as is told, is passed over, and so is a firing
  /// whose `firesOnce` subscription is gone: nothing is logged twice.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` when other changes of a database wait before these, and
  ///   ``StoreError/Code/leaseLost`` when another server dispatches them.
  /// - Parameter room: how many of the deliveries are leased to the caller; without it none is.
  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing room: DeliveryRoom?
  ) async throws -> DispatchResult

  // MARK: Devices and deliveries

  /// Registers a token, or moves it to another user or device.
  func saveDeviceToken(_ token: DeviceToken) async throws
  func deviceToken(_ token: String, kind: DeviceToken.Kind) async throws -> DeviceToken?
  func deviceTokens(of userRecordName: String) async throws -> [DeviceToken]
  /// Registers a token as ``saveDeviceToken(_:)`` does, unless it is new for its user, who has `limit`
  /// others of its kind in its container and environment that have not expired when it is registered;
  /// false then.
  func saveDeviceToken(_ token: DeviceToken, unlessBeyond limit: Int) async throws -> Bool
  /// Forgets a token, and gives up what is owed to it; false when the user has none of this name.
  func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool
  /// Deliveries that have no final outcome and are due at `timestamp`, oldest first.
  func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery]
  /// The ways that deliveries have gone so far.
  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute]
  /// How many deliveries have no final outcome.
  func owedDeliveryCount() async throws -> Int
  /// When the next delivery on a route is due after `timestamp`, or its lease ends; nil when none is.
  /// Those that another server than `holder` has taken do not count.
  func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp?
  /// Leases to the caller deliveries on a route that are due and that no other server has, oldest
  /// first. Those in whose place a
  /// newer one can go (``DeliveryMergeKey``) are merged into that and not among them.
  ///
  /// - Parameter mergingHarder: a silent one is merged into a newer silent one for its device whatever
  ///   their subscriptions.
  func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries
  /// The latest pushes that were refused by a fault of ours, newest first; they are kept for 30 days.
  func refusedPushes(limit: Int) async throws -> [RefusedPush]
  /// Ends the leases of processes that are known to be gone: of all that are no registered server, but
  /// this one.
  func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws
  /// Writes what became of deliveries; one that has a final outcome keeps it. Answers how many others
  /// were merged into them.
  @discardableResult
  func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int

  // MARK: Web courier

  /// In which containers the reader with this token listens, and as whom; that which the token was
  /// made for first. Empty when there is no such token.
  func courierRegistrations(ofToken token: String) async throws -> [DeviceToken]
  /// The oldest notification that the reader with this token has not acknowledged, not counting
  /// those for changes that its own device made; nil when there is none.
  ///
  /// - Parameter position: where the reader is by its own account. What lies behind it is passed
  ///   over, acknowledged or not, and what lies before it is given again. Places that the log has
  ///   not come to yet do not count.
  func nextCourierEntry(
    forToken token: String, after position: CourierPosition
  ) async throws -> CourierEntry?
  /// Moves the reader's cursor past this entry.
  func acknowledgeCourierEntry(_ entry: LogEntry, forToken token: String) async throws
  /// What readers were given last, where their polls may go to several servers; nil where one server
  /// has the store alone, and may keep that by itself.
  var courierAnswers: (any CourierAnswers)? { get }

  // MARK: Maintenance

  /// Drops log entries and finished deliveries beyond their retention: by default 30 days or 10,000
  /// entries a user, whichever is less; old changes of the history; tokens that have expired; deletions that
  /// need not be remembered any more; and assets that nobody holds.
  func trim(at timestamp: Timestamp) async throws

  // MARK: Watching

  /// How the store is doing; cheap, and waits for nobody.
  var metrics: StoreMetrics { get }
  /// What it takes; nil for a store in memory, and until that of one in PostgreSQL was looked up, for
  /// which nobody waits.
  func fileSizes() async -> StoreFileSizes?
  /// What shows that the store is damaged; nil while nothing does. Once it is known, nothing is read from
  /// the store any more, nor written: everything throws ``StoreError/Code/corrupt``.
  var damage: String? { get }
  /// Has it told once when damage is found, or when a PostgreSQL that the store is in finds some.
  func setDamageHandler(_ handler: (@Sendable (String) -> Void)?)
  /// Has it told once when the disk failed to sync the store's file. What it was given then may be lost,
  /// though it can be read for a while, and nothing is served any more. It is still in the log, from
  /// which the next process to open the store takes it: so this one should end.
  func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?)
  /// Commits something that changes nothing, so that it is known whether the store can.
  func checkWriting() async throws

  /// Finishes what is under way and closes; calls after that throw ``StoreError/Code/closed``.
  func close() async
}

extension RecordStore {
  public var servers: (any ServerStore)? { nil }
  public var clockOffset: Double { 0 }
  public var sharedLimits: (any SharedLimits)? { nil }
  public var courierAnswers: (any CourierAnswers)? { nil }
  public var damage: String? { nil }
  public func setDamageHandler(_ handler: (@Sendable (String) -> Void)?) {}
  public func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?) {}

  /// Whether other servers may serve the store at the same time.
  public var isShared: Bool { sharedLimits != nil }
}

extension RecordStore {
  /// Makes an account of whose user nothing more is known.
  public func addUser(named name: String, at timestamp: Timestamp) async throws -> User {
    try await addUser(named: name, profile: UserProfile(), at: timestamp)
  }

  /// Saves and deletes subscriptions of one user, equal ones too.
  public func modifySubscriptions(
    _ operations: [SubscriptionOperation], of subscriber: String, in database: DatabaseID,
    timestamp: Timestamp
  ) async throws -> [SubscriptionOutcome] {
    try await modifySubscriptions(
      operations, of: subscriber, in: database, refusesEqualContent: false, timestamp: timestamp)
  }
}

extension RecordStore {
  /// What became of all users' subscriptions since `position`, in the order of their versions.
  public func subscriptionChanges(
    in database: DatabaseID, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await subscriptionChanges(in: .whole(database), since: position, limit: limit)
  }

  /// The oldest changes of a database after `sequence` that are not dispatched to all of its parts, in
  /// order.
  public func undispatchedChanges(
    in database: DatabaseID, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await undispatchedChanges(in: .whole(database), after: sequence, limit: limit)
  }
}

extension RecordStore {
  /// The oldest notification that the reader with this token has not acknowledged.
  public func nextCourierEntry(forToken token: String) async throws -> CourierEntry? {
    try await nextCourierEntry(forToken: token, after: CourierPosition())
  }
}

extension RecordStore {
  /// Writes what the changes led to; the deliveries wait in the store.
  @discardableResult
  public func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp
  ) async throws -> DispatchResult {
    try await completeDispatch(of: changes, timestamp: timestamp, leasing: nil)
  }
}

/// An engine that keeps the records of an app and those of a database equal.
///
/// The app adds the IDs of changed records to ``state``, and supplies the records in its
/// ``CKSyncEngineDelegate``. The engine sends them, fetches the changes of other devices, and passes
/// both as events to the delegate. It decides itself when to do so, repeats what failed for a while, and
/// saves the subscription whose pushes make it fetch.
///
/// ```swift
/// let engine = CKSyncEngine(
///   .init(database: container.privateCloudDatabase, stateSerialization: stored, delegate: self))
/// engine.state.add(pendingRecordZoneChanges: [.saveRecord(note.recordID)])
/// ```
///
/// An app makes one engine for the private database and one for the shared database, soon after it
/// starts. Any thread may use an engine. The engine ends its work when the app releases it or the
/// delegate.
public final class CKSyncEngine: Sendable {
  /// The database that the engine works with.
  public let database: CKDatabase
  /// The changes to send, and the positions up to which the engine has fetched.
  public let state: State
  private let worker: SyncWorker

  /// Creates an engine, which begins to work.
  ///
  /// - Precondition: The database is a private or a shared one.
  public init(_ configuration: Configuration) {
    requireArgument(
      configuration.database.databaseScope != .public,
      "CKSyncEngine: the database must be private or shared, not public")
    database = configuration.database
    state = State(configuration)
    worker = SyncWorker(configuration, state: state)
    worker.start(for: self)
  }

  deinit { worker.stop() }

  /// Fetches the changes of the database, and returns when the delegate has handled them.
  ///
  /// An app calls the method where it cannot wait for a push, for example when the user asks for it.
  ///
  /// - Throws: `notAuthenticated` without an account. `partialFailure` with errors by zone ID.
  ///   `operationCancelled` if the task was cancelled, or the app called ``cancelOperations()``.
  ///   `internalError` in a call of a delegate's method, which would wait for itself.
  public func fetchChanges(_ options: FetchChangesOptions = .init()) async throws {
    try await worker.run(.fetch(options))
  }

  /// Sends the pending changes, and returns when the delegate has handled the results.
  ///
  /// An app calls the method where it cannot wait, for example before the process ends.
  ///
  /// - Throws: `notAuthenticated` without an account. `partialFailure` with errors by record or zone
  ///   ID. `limitExceeded` or `invalidArguments` for a batch that is too large, or not in the scope.
  ///   `operationCancelled` if the task was cancelled, or the app called ``cancelOperations()``.
  ///   `internalError` in a call of a delegate's method, which would wait for itself.
  public func sendChanges(_ options: SendChangesOptions = .init()) async throws {
    try await worker.run(.send(options))
  }

  /// Ends what the engine does, and returns when it has ended. Pending changes stay. A later change or
  /// push makes the engine work again.
  ///
  /// In a call of a delegate's method, the method does not wait.
  public func cancelOperations() async {
    await worker.cancelAll()
  }

  /// Passes a push to the engine, which then fetches. The method is an addition of Petrel, for apps that
  /// get their pushes through Web Push, a webhook or an event stream. The engine itself reads the web
  /// courier.
  ///
  /// - Parameter userInfo: The payload. A payload of another database or container has no effect.
  public func receive(remoteNotification userInfo: [AnyHashable: Any]) {
    worker.receive(userInfo)
  }
}

extension CKSyncEngine: CustomStringConvertible {
  public var description: String { "CKSyncEngine(\(database.databaseScope))" }
}

extension CKSyncEngine {
  /// The settings of an engine.
  public struct Configuration: Sendable, CustomStringConvertible {
    /// The database: a private or a shared one.
    public var database: CKDatabase
    /// The state that the app stored last; `nil` at the first start.
    public var stateSerialization: State.Serialization?
    /// The delegate. The engine does not keep it alive.
    public var delegate: any CKSyncEngineDelegate
    /// Whether the engine fetches and sends by itself; true unless set. If false, it does so only in
    /// the calls of ``CKSyncEngine/fetchChanges(_:)`` and ``CKSyncEngine/sendChanges(_:)``.
    public var automaticallySync = true
    /// The ID of the engine's database subscription. With `nil`, the engine uses a database
    /// subscription without a record type that it finds, or saves one.
    public var subscriptionID: CKSubscription.ID?

    /// Creates a configuration.
    public init(
      database: CKDatabase, stateSerialization: State.Serialization?,
      delegate: any CKSyncEngineDelegate
    ) {
      self.database = database
      self.stateSerialization = stateSerialization
      self.delegate = delegate
    }

    public var description: String {
      "Configuration(database: \(database.databaseScope), "
        + "hasState: \(stateSerialization != nil), automaticallySync: \(automaticallySync), "
        + "subscriptionID: \(subscriptionID ?? "nil"))"
    }
  }
}

extension CKSyncEngine.State {
  /// Creates the state of an engine. The stored state of another container, environment or scope counts
  /// as none.
  fileprivate convenience init(_ configuration: CKSyncEngine.Configuration) {
    let client = configuration.database.client.value
    let place = Serialization.Place(
      container: client?.containerIdentifier,
      environment: client?.configuration.environment.rawValue,
      scope: configuration.database.databaseScope.rawValue)
    var values = SyncState()
    if let stored = configuration.stateSerialization {
      if stored.place == place {
        values = stored.state
      } else {
        PetrelConfiguration.warn(
          "the state that a CKSyncEngine got is of another database; the engine starts without it")
      }
    }
    self.init(values, of: place)
  }
}

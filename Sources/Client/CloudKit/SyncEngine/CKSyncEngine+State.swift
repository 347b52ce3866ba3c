extension CKSyncEngine {
  /// The state of an engine: the changes to send, and the positions up to which it has fetched.
  ///
  /// Any thread may use the state, also inside the methods of a delegate. The engine passes each
  /// change of the state to its delegate, in an event ``Event/stateUpdate(_:)``.
  public final class State: Sendable {
    let values: Locked<SyncState>
    /// The database of the engine, which the serializations name.
    let place: Serialization.Place
    /// Called after each change, without the lock.
    let onChange = Locked(Observer { _ in })

    /// The closure that gets each change.
    ///
    /// Swift wraps a closure that is the value of a generic lock once more at each access, even in an
    /// optional. The calls of all wrappers would fill the stack in the end.
    struct Observer: Sendable {
      var note: @Sendable (Change) -> Void
    }

    /// The kind of a change of the state.
    enum Change: Sendable {
      /// The app has added something to send.
      case needsSending
      /// Any other change.
      case other
    }

    init(_ values: SyncState, of place: Serialization.Place) {
      self.values = Locked(values)
      self.place = place
    }

    @discardableResult
    func update<Result>(
      _ kind: Change = .other, _ body: (inout SyncState) -> Result
    ) -> Result {
      let result = values.withLock(body)
      onChange.withLock { $0 }.note(kind)
      return result
    }

    var serialization: Serialization {
      Serialization(place: place, state: values.withLock { $0 })
    }

    // MARK: Changes to send

    /// The records to save and to delete, in the order in which they were added. A change that is
    /// being sent is not among them.
    public var pendingRecordZoneChanges: [PendingRecordZoneChange] {
      values.withLock { $0.recordChanges.pending }
    }

    /// The zones to save and to delete, in the order in which they were added. A change that is being
    /// sent is not among them.
    public var pendingDatabaseChanges: [PendingDatabaseChange] {
      values.withLock { $0.databaseChanges.pending }
    }

    /// Whether the app has changes that it does not add to ``pendingRecordZoneChanges``. If true, the
    /// engine asks the delegate for batches all the same.
    ///
    /// The engine sets the property to false when the delegate has no more batches in a send with the
    /// scope `all`.
    public var hasPendingUntrackedChanges: Bool {
      get { values.withLock { $0.hasPendingUntrackedChanges } }
      set { update(newValue ? .needsSending : .other) { $0.hasPendingUntrackedChanges = newValue } }
    }

    /// The zones whose changes are not fetched yet.
    public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] {
      values.withLock { Array($0.unfetchedZones) }
    }

    /// Adds changes of records. A change that is pending already stays at its place. It replaces
    /// another change of its record.
    public func add(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
      if pendingRecordZoneChanges.isEmpty { return }
      update(.needsSending) { state in
        for change in pendingRecordZoneChanges { state.recordChanges.add(change) }
      }
    }

    /// Removes changes of records. Changes that are not pending are ignored.
    public func remove(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
      if pendingRecordZoneChanges.isEmpty { return }
      update { state in
        for change in pendingRecordZoneChanges { state.recordChanges.remove(change) }
      }
    }

    /// Adds changes of zones. A change that is pending already stays at its place. It replaces another
    /// change of its zone.
    public func add(pendingDatabaseChanges: [PendingDatabaseChange]) {
      if pendingDatabaseChanges.isEmpty { return }
      update(.needsSending) { state in
        for change in pendingDatabaseChanges { state.databaseChanges.add(change) }
      }
    }

    /// Removes changes of zones. Changes that are not pending are ignored.
    public func remove(pendingDatabaseChanges: [PendingDatabaseChange]) {
      if pendingDatabaseChanges.isEmpty { return }
      update { state in
        for change in pendingDatabaseChanges { state.databaseChanges.remove(change) }
      }
    }
  }
}

extension CKSyncEngine.State {
  /// The state of an engine as an app stores it, with any coder.
  ///
  /// A serialization has a position in a feed only if the delegate has handled the changes up to that
  /// position. It has a change as pending until the delegate has handled the event with the result. So
  /// an app that stores events and serializations in their order loses nothing when it is killed.
  public struct Serialization: Codable, Sendable {
    /// The database that a serialization belongs to.
    struct Place: Codable, Hashable, Sendable {
      var container: String?
      var environment: String?
      var scope: CKDatabase.Scope.RawValue
    }

    /// The version of the format. A serialization of a later version cannot be decoded.
    private static let version = 1

    let place: Place
    let state: SyncState

    /// The keys of the encoded members.
    private enum Key: String, CodingKey {
      case version, place, state
    }

    init(place: Place, state: SyncState) {
      self.place = place
      self.state = state
    }

    /// Decodes a serialization.
    ///
    /// - Throws: A `DecodingError` if this module did not encode it, if it is damaged, or if its
    ///   format is of a later version.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      let version = try container.decode(Int.self, forKey: .version)
      guard version == Self.version else {
        throw DecodingError.dataCorruptedError(
          forKey: .version, in: container,
          debugDescription: "the format \(version) of the state is not known; it should be "
            + "\(Self.version)")
      }
      place = try container.decode(Place.self, forKey: .place)
      state = try container.decode(SyncState.self, forKey: .state)
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(Self.version, forKey: .version)
      try container.encode(place, forKey: .place)
      try container.encode(state, forKey: .state)
    }
  }
}

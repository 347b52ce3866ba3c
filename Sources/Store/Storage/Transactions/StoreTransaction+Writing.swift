import CloudKitModel
import SQLEngine
import StoreModel

extension StoreTransaction {
  /// The statements of `body` may name tables with unwritten rows: the caller looks at these by
  /// itself. Decided statements on the tables are run first.
  func besidesWriteSet<Value>(_ body: () throws -> Value) rethrows -> Value {
    try gate.open(body)
  }

  /// Nothing that was decided concerns the rows that the statements of `body` find.
  func besidesDecisions<Value>(_ body: () throws -> Value) rethrows -> Value {
    try gate.apart(body)
  }

  /// Runs a statement later, at the latest before the commit, after all that was decided before. A
  /// later statement may throw its error. Outside of a writing transaction, it runs at once.
  func decide(_ statement: Statement, _ arguments: [SQLValue]) throws {
    guard isWriting else {
      try connection.run(statement, arguments)
      return
    }
    let tables = gate.effects(of: statement.text).tables
    if tables & writes.unwritten != 0 { try write(tables) }
    change(tables)
    writes.decide(statement, arguments, naming: tables)
    if writes.isFull { try write() }
  }

  /// Runs all decided statements, then writes decided rows, one statement for each kind of change.
  func write(_ tables: StatementGate.Tables = .max) throws {
    let tables = tables & writes.unwritten
    guard tables != 0 || writes.hasStatements else { return }
    // This looks at what was read, which the decisions replace.
    try gate.prepare()
    gate.countWrite()
    try gate.apart {
      for decided in writes.takeStatements() {
        try connection.runLater(decided.statement, decided.arguments)
      }
      for table in WriteSet.Table.allCases where tables & table.bit != 0 {
        switch table {
        case .databases: try DatabaseTable(transaction: self).writeDecided()
        case .zones: try ZoneTable(transaction: self).writeDecided()
        case .records: try RecordTable(transaction: self).writeDecided()
        case .tombstones: try TombstoneTable(transaction: self).writeDecided()
        case .outbox: try OutboxTable(transaction: self).writeDecided()
        case .valueIndex: try ValueIndexTable(transaction: self).writeDecided()
        case .notificationLog: try writes.log.finish(in: connection)
        case .notificationIndex: try writes.logIndex.finish(in: connection)
        case .deliveries: try writes.deliveries.finish(in: connection)
        case .dispatches: try DispatchTable(transaction: self).writeDecided()
        case .answeredRequests: try AnsweredRequestTable(transaction: self).writeDecided()
        case .dispatchLeases, .deviceTokens: break
        }
      }
    }
  }

  // MARK: Marks

  /// A state to which a transaction can return.
  struct Mark {
    fileprivate let writes: WriteSet.Mark
    fileprivate let writeCount: Int
    fileprivate let savepoint: String?
    fileprivate let outboxCount: Int
    fileprivate let usedTypeCount: Int
    fileprivate let loggedCount: Int
  }

  /// Sets a savepoint, if the transaction has them, whose name may be that of an outer one.
  func mark(_ name: String) throws -> Mark {
    if setsSavepoints {
      try write()
      try connection.run("SAVEPOINT \(name)", [])
    }
    return Mark(
      writes: writes.mark(), writeCount: gate.writeCount, savepoint: setsSavepoints ? name : nil,
      outboxCount: outbox.count, usedTypeCount: usedTypes.count,
      loggedCount: tailChange.added.count)
  }

  /// - Throws: ``SavepointNeeded`` if a statement has written since, and there is no savepoint.
  func restore(_ mark: Mark) throws {
    if gate.writeCount == mark.writeCount, connection.canContinue {
      writes.restore(to: mark.writes)
    } else {
      guard let savepoint = mark.savepoint else { throw SavepointNeeded() }
      try connection.run("ROLLBACK TO \(savepoint)", [])
      // The savepoint had all rows, so they can be read again.
      writes = WriteSet()
      reads = ReadSet()
    }
    forgetOwnCatalog()
    outbox.removeSubrange(mark.outboxCount...)
    usedTypes.removeSubrange(mark.usedTypeCount...)
    tailChange.added.removeSubrange(mark.loggedCount...)
    try release(mark)
  }

  /// Keeps what came after the state.
  func release(_ mark: Mark) throws {
    if let savepoint = mark.savepoint { try connection.run("RELEASE \(savepoint)", []) }
  }
}

/// A job must return to an earlier state, although statements have written since. The writer rolls
/// the transaction back, and gives the job one of its own. If the job is alone already, the writer
/// repeats its transaction with savepoints.
struct SavepointNeeded: Error {
  /// The place of the job in its group; nil if a statement failed that one of the jobs decided.
  var job: Int?
}

import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// What one of the store's threads works with: its connection, and what it knows by heart.
final class StoreTransaction {
  let connection: any SQLConnection
  let makeUUID: @Sendable () -> UUID
  /// The changes written in the transaction so far, in order.
  var outbox: [OutboxEntry] = []
  /// The servers that the transaction has left word for where there was none.
  var wordLeft: Set<ServerID> = []
  /// The bytes that the transaction has added and taken so far.
  var storedBytes = StoredBytes()
  /// What record modifications have left to be written before the commit.
  var gathered = GatheredWrites()
  /// The types that records were made of in the transaction, for the ``SchemaBoard``.
  var usedTypes: [SchemaBoard.Notice] = []
  /// What the transaction does with entries of the notification log that the index does not have.
  var tailChange = NotificationTail.Change()
  /// So many entries are to be filed before the commit, whether they have waited long or not.
  var filingRequest = 0
  /// Whether atomic requests are carried out without savepoints. One that fails throws
  /// ``SavepointNeeded``, and the transaction is begun again with them.
  var goesWithoutSavepoints = false
  var savepointPolicy = SavepointPolicy()
  /// What the transaction that is under way has locked; nil where nobody else writes.
  var held: WriteLocks?
  /// Whether the transaction has its locks, so that jobs are done in it.
  var hasBegun = false
  /// Whether the connection was lost with a transaction that may have been committed, and it is not known
  /// yet to be over.
  var isInDoubt = false
  /// Where the arguments of statements are put together that run for every record.
  var arguments = SQLArguments()
  var catalog = Catalog()
  /// The entries of the notification log that wait to be filed; nil where all are filed at once.
  var tail: NotificationTail?
  /// What ``NotificationTail/wholeRuns`` was before a reader's transaction began; nil for the writer.
  var wholeRuns: Int?
  /// The extracts of the index that searches share; nil where what they read may be rolled back.
  var extracts: ExtractShelf?
  /// Has an extract made that is wanted.
  var makeExtract: (@Sendable (IndexExtract.Name) -> Void)?
  /// What is kept of changes that were dispatched.
  var historyLimits = ChangeHistoryLimits()
  /// Whether the databases of the store are on several nodes: see ``StoreDistribution``.
  var isDistributed = false
  /// As which server changes are committed; nil where one alone has the store open.
  var identity: ServerIdentity?
  /// Stands for the database's clock where a test moves time: nanoseconds since 1970.
  var steeredTime: (@Sendable () -> Int64)?
  /// Where no record type or field is made by saving it.
  var fixedEnvironments: Set<ContainerEnvironment> = []
  /// The limits of the store; a session by itself has none.
  var quotas = StoreQuotas()

  /// Seals what clients are given to keep.
  let tokens: TokenCipher
  let changeTags: ChangeTags

  /// - Parameter tokens: those of the store; without, the session gives nothing to clients.
  init(
    connection: any SQLConnection, tokens: TokenCipher = .unused,
    makeUUID: @escaping @Sendable () -> UUID
  ) throws {
    self.connection = connection
    self.tokens = tokens
    changeTags = try tokens.makeChangeTags()
    self.makeUUID = makeUUID
  }

  /// Drops what may have been learnt from rows that were rolled back.
  func forgetUncommitted() {
    catalog = Catalog()
  }
}

/// What need not be read twice: what never changes once it is in the store, and the schemas, which
/// are read again when their version has changed.
struct Catalog {
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  /// Whether databases have subscriptions, at the subscription versions that it was looked for.
  var subscribed: [DatabaseID: (version: Int64, isSubscribed: Bool)] = [:]
  var zoneIDs: [ZoneKey: ZoneID] = [:]
  var types: [RecordTypeKey: RecordTypeEntry] = [:]
  var typesByNumber: [Int64: RecordTypeEntry] = [:]
  /// The numbers of the ways of deliveries.
  var routes: [DeliveryRoute: DeliveryRoute.ID] = [:]
  /// The custom roles of users, without the system's.
  var roles: [MemberKey: Set<String>] = [:]
  /// The hashes of the users who are being deleted or were lately, as of ``schemaVersion``; nil before
  /// they are asked for.
  var deletedUsers: Set<[UInt8]>?
  /// The schema version that types and roles were read at; nil before the first is read.
  var schemaVersion: Int64?

  struct ZoneKey: Hashable {
    var database: DatabaseID
    var number: Int64
  }

  struct RecordTypeKey: Hashable {
    var container: String
    var environment: ContainerEnvironment
    var name: String
  }

  struct MemberKey: Hashable {
    var container: String
    var environment: ContainerEnvironment
    var userRecordName: String
  }
}

import Foundation
import Storage
import StoreModel

/// The move of a whole store from one engine to another, with the files of its assets.
///
/// Rows are copied as they are, table by table in the order of the primary key, in transactions of
/// bounded size. How far it is stands in the target, in the same transactions: a move that ended
/// halfway, however it did, goes on where it was. In the end all rows of both stores are compared.
///
/// Numbers, change tokens, sessions and keys stay what they were, so the source must not be served any
/// more afterwards.
public enum StoreMove {
  /// How far a move is.
  public struct Progress: Sendable, Hashable {
    public enum Stage: Sendable, Hashable {
      case copying
      case copyingAssets
      case comparing
    }

    public var stage = Stage.copying
    /// The table that is copied or compared.
    public var table = ""
    /// Counts from 1.
    public var tableNumber = 0
    public var tables = 0
    /// Rows of all tables in this stage.
    public var rows = 0
    public var assets = 0

    public init() {}
  }

  /// What is in both stores.
  public struct Result: Sendable, Hashable {
    public struct Table: Sendable, Hashable {
      public var name: String
      public var rows: Int
      /// Of all columns of all rows in the order of the primary key, in hexadecimal digits; the same for
      /// all engines.
      public var digest: String
    }

    /// In the order of their names.
    public var tables: [Table] = []
    /// Files of assets, and their bytes.
    public var assets = 0
    public var assetBytes: Int64 = 0
    /// Files that the source should have and has not, a hundred at most.
    public var missingAssets: [String] = []
    /// Whether an earlier move that ended halfway was gone on with.
    public var isContinued = false

    public init() {}

    public var rows: Int { tables.reduce(0) { $0 + $1.rows } }
  }

  /// When a transaction is committed.
  struct BatchLimits: Sendable {
    var rows = 50_000
    var bytes = 8 << 20
  }

  /// Moves a store into a place where there is none, or goes on with that.
  ///
  /// - Parameter progress: is called for every batch, on a thread of its own.
  /// - Throws: ``StoreError/Code/cannotOpen`` when there is no store at the source, it has an older version,
  ///   or a program has it or the target open; ``StoreError/Code/newerSchema`` when a newer Petrel wrote
  ///   it; ``StoreError/Code/exists`` when the target has something else in it than an unfinished move
  ///   of the same store; ``StoreError/Code/corrupt`` when the stores differ in the end.
  public static func run(
    from source: StoreLocation, to target: StoreLocation,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws -> Result {
    try await run(from: source, to: target, limits: BatchLimits(), progress: progress)
  }

  /// - Parameter committed: is called after each commit of rows; what it throws ends the move there.
  static func run(
    from source: StoreLocation, to target: StoreLocation, limits: BatchLimits,
    committed: @escaping @Sendable (Progress) throws -> Void = { _ in },
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws -> Result {
    try await SQLStore.onThread {
      guard source != target else {
        throw StoreError(.exists, "source and target are the same place")
      }
      let source = try StoreMoveEnd(source: source)
      defer { source.connection.close() }
      let target = try StoreMoveEnd(target: target, of: source)
      defer { target.connection.close() }
      let mover = StoreMover(
        source: source, target: target, limits: limits, committed: committed, report: progress)
      return try mover.run()
    }
  }
}

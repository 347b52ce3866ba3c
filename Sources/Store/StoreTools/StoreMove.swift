import Foundation
import Storage
import StoreModel

/// The move of a whole store from one engine to another, with the files of its assets.
///
/// Rows are copied unchanged, table by table in the order of the primary key, in transactions of
/// bounded size. Each transaction also stores the progress in the target, so an interrupted move
/// continues where it stopped. At the end all rows of both stores are compared.
///
/// Numbers, change tokens, sessions and keys stay the same, so the source must not be served any
/// more.
public enum StoreMove {
  /// The progress of a move.
  public struct Progress: Sendable, Hashable {
    public enum Stage: Sendable, Hashable {
      case copying
      case copyingAssets
      case comparing
    }

    public var stage = Stage.copying
    /// The table being copied or compared.
    public var table = ""
    /// The table's position, counted from 1.
    public var tableNumber = 0
    public var tables = 0
    /// The number of rows of all tables in this stage.
    public var rows = 0
    public var assets = 0

    public init() {}
  }

  /// The contents of both stores after a move.
  public struct Result: Sendable, Hashable {
    public struct Table: Sendable, Hashable {
      public var name: String
      public var rows: Int
      /// The digest of all columns of all rows in the order of the primary key, in hexadecimal
      /// digits; the same for all engines.
      public var digest: String
    }

    /// In the order of their names.
    public var tables: [Table] = []
    /// The number of asset files, and their bytes.
    public var assets = 0
    public var assetBytes: Int64 = 0
    /// Missing files of the source, at most a hundred.
    public var missingAssets: [String] = []
    /// Whether this move continued an interrupted one.
    public var isContinued = false

    public init() {}

    public var rows: Int { tables.reduce(0) { $0 + $1.rows } }
  }

  /// The limits at which a transaction is committed.
  struct BatchLimits: Sendable {
    var rows = 50_000
    var bytes = 8 << 20
  }

  /// Moves a store to a place where there is none, or continues an interrupted move.
  ///
  /// - Parameter progress: called for every batch, on a thread of its own.
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no store at the source, if it has an
  ///   older version, or if a program has it or the target open; ``StoreError/Code/newerSchema`` if
  ///   a newer Petrel wrote it; ``StoreError/Code/exists`` if the target contains something other
  ///   than an unfinished move of the same store; ``StoreError/Code/corrupt`` if the stores differ
  ///   at the end.
  public static func run(
    from source: StoreLocation, to target: StoreLocation,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws -> Result {
    try await run(from: source, to: target, limits: BatchLimits(), progress: progress)
  }

  /// - Parameter committed: called after each commit of rows; an error that it throws ends the
  ///   move.
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

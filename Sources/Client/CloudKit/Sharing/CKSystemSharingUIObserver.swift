/// An observer of shares that a system's sharing interface saves or ends.
///
/// Linux has no such interface, so Petrel never calls the blocks. The class exists for code that
/// also runs on Apple's systems.
open class CKSystemSharingUIObserver: NSObject, @unchecked Sendable {
  private let blocks = Locked(Blocks())

  /// The blocks of an observer.
  private struct Blocks {
    var didSave: (@Sendable (CKRecord.ID, Result<CKShare, any Error>) -> Void)?
    var didStop: (@Sendable (CKRecord.ID, Result<Void, any Error>) -> Void)?
  }

  /// Makes an observer for the shares of a container.
  public init(container: CKContainer) {}

  /// The block for a share that was saved, with the ID of the root record; never called.
  open var systemSharingUIDidSaveShareBlock:
    (@Sendable (CKRecord.ID, Result<CKShare, any Error>) -> Void)?
  {
    get { blocks.withLock { $0.didSave } }
    set { blocks.withLock { $0.didSave = newValue } }
  }

  /// The block for a share that was ended, with the ID of the root record; never called.
  open var systemSharingUIDidStopSharingBlock:
    (@Sendable (CKRecord.ID, Result<Void, any Error>) -> Void)?
  {
    get { blocks.withLock { $0.didStop } }
    set { blocks.withLock { $0.didStop = newValue } }
  }
}

package import CloudKitModel

/// A file that is the value of a record's field. The server stores it separately from the record.
///
/// To save an asset, make it with the URL of a file. Keep the file unchanged and in place until the
/// save ends. A file can have at most 50 MB (50,000,000 bytes).
///
/// A fetched asset refers to a temporary file. The file stays for an hour after its download, and as
/// long as a copy of the asset object lives. After that, the next download deletes it. The end of the
/// process deletes all such files. To keep a file, move it.
///
/// ```swift
/// note["photo"] = CKAsset(fileURL: photoURL)
/// if let fileURL = (fetched["photo"] as? CKAsset)?.fileURL { try move(fileURL) }
/// ```
///
/// Assets cannot be used in predicates, sort descriptors or desired keys of notifications.
open class CKAsset: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The URL of the file on this machine; nil if the asset was not downloaded.
  public var fileURL: URL? { state.withLock { $0.fileURL } }

  /// The properties of an asset, which the lock protects together.
  private struct State {
    var fileURL: URL?
    /// The object that keeps a downloaded file while an asset refers to the file. Nil for files of the
    /// program.
    var staged: StagedFile?
    /// The server's description of the stored file; nil for an asset that was not saved.
    var stored: Asset?
  }

  private let state: Locked<State>

  /// Makes an asset from a file of the program. The file is read when the record is saved.
  ///
  /// - Precondition: `fileURL` is a file URL.
  public init(fileURL: URL) {
    requireArgument(fileURL.isFileURL, "CKAsset: \(fileURL) is not a file URL")
    state = Locked(State(fileURL: fileURL))
  }

  /// Makes an asset from a local file, the server's description of a stored file, or both.
  package init(fileURL: URL?, stored: Asset?) {
    state = Locked(State(fileURL: fileURL, stored: stored))
  }

  private init(state: State) {
    self.state = Locked(state)
  }

  /// The server's description of the stored file. Nil for an asset that was neither fetched nor
  /// saved.
  package var storedAsset: Asset? {
    get { state.withLock { $0.stored } }
    set { state.withLock { $0.stored = newValue } }
  }

  func setFile(_ file: StagedFile) {
    state.withLock { state in
      state.fileURL = file.url
      state.staged = file
    }
  }

  /// Returns an asset with the same local file, and with the server's description of the stored
  /// file.
  func saved(as stored: Asset) -> CKAsset {
    CKAsset(
      state: state.withLock { state in
        State(fileURL: state.fileURL, staged: state.staged, stored: stored)
      })
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes an asset from an archive. The archive contains the file's URL and the server's
  /// description of the file, but not the file.
  public required init?(coder: NSCoder) {
    var state = State(
      fileURL: coder.decodeOptional(NSURL.self, forKey: "AssetFileURL", "fileURL").map { $0 as URL }
    )
    if let checksum = coder.decodeOptionalString(forKey: "fileChecksum") {
      state.stored = Asset(
        fileChecksum: checksum, size: coder.decodeInt64(forKey: "size"),
        referenceChecksum: coder.decodeOptionalString(forKey: "referenceChecksum"),
        wrappingKey: coder.decodeOptionalString(forKey: "wrappingKey"),
        receipt: coder.decodeOptionalString(forKey: "receipt"),
        downloadURL: coder.decodeOptionalString(forKey: "downloadURL"))
    }
    self.state = Locked(state)
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(fileURL.map { $0 as NSURL }, forKey: "AssetFileURL")
    guard let asset = storedAsset else { return }
    coder.encode(asset.fileChecksum as NSString, forKey: "fileChecksum")
    coder.encode(asset.size, forKey: "size")
    coder.encodeOptional(asset.referenceChecksum, forKey: "referenceChecksum")
    coder.encodeOptional(asset.wrappingKey, forKey: "wrappingKey")
    coder.encodeOptional(asset.receipt, forKey: "receipt")
    coder.encodeOptional(asset.downloadURL, forKey: "downloadURL")
  }

  /// Returns an asset for the same file.
  open func copy(with zone: NSZone? = nil) -> Any {
    CKAsset(state: state.withLock { $0 })
  }

  open override var description: String {
    "<CKAsset: \(fileURL?.path ?? "not downloaded")>"
  }
}

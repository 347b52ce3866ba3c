package import CloudKitModel

/// A file that belongs to a record's field and is stored beside the records.
///
/// To save one, point it at a file that stays where it is, and as it is, until the save ends. A
/// fetched asset points at a temporary file, which is removed with the asset object, or when the
/// process ends: move it at once if you want to keep it.
open class CKAsset: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// Where the file lies on this machine; nil when the asset was not downloaded.
  public var fileURL: URL? { state.withLock { $0.fileURL } }

  private struct State {
    var fileURL: URL?
    /// What removes the file when nobody needs it any more.
    var staged: StagedFile?
    var stored: Asset?
  }

  private let state: Locked<State>

  /// - Precondition: `fileURL` is a file URL.
  public init(fileURL: URL) {
    requireArgument(fileURL.isFileURL, "CKAsset: \(fileURL) is not a file URL")
    state = Locked(State(fileURL: fileURL))
  }

  package init(fileURL: URL?, stored: Asset?) {
    state = Locked(State(fileURL: fileURL, stored: stored))
  }

  private init(state: State) {
    self.state = Locked(state)
  }

  /// What the server knows of the file, once it was fetched or saved.
  package var storedAsset: Asset? {
    get { state.withLock { $0.stored } }
    set { state.withLock { $0.stored = newValue } }
  }

  /// The file was downloaded.
  func setFile(_ file: StagedFile) {
    state.withLock { state in
      state.fileURL = file.url
      state.staged = file
    }
  }

  /// The same file as what the server knows as `stored`.
  func saved(as stored: Asset) -> CKAsset {
    CKAsset(
      state: state.withLock { state in
        State(fileURL: state.fileURL, staged: state.staged, stored: stored)
      })
  }

  open class var supportsSecureCoding: Bool { true }

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

  open func copy(with zone: NSZone? = nil) -> Any {
    CKAsset(state: state.withLock { $0 })
  }

  open override var description: String {
    "<CKAsset: \(fileURL?.path ?? "not downloaded")>"
  }
}

import CloudKitModel

/// The body of `assets/upload`: asks for URLs to upload files to.
public struct UploadAssetsRequest: Sendable, Hashable {
  /// A field that will hold a file.
  public struct Token: Sendable, Hashable {
    /// Nil lets the server choose one.
    public var recordName: String?
    public var recordType: String
    public var fieldName: String

    public init(recordName: String?, recordType: String, fieldName: String) {
      self.recordName = recordName
      self.recordType = recordType
      self.fieldName = fieldName
    }
  }

  public var zoneID: ZoneID
  public var tokens: [Token]

  public init(zoneID: ZoneID, tokens: [Token]) {
    self.zoneID = zoneID
    self.tokens = tokens
  }
}

extension UploadAssetsRequest: Message, MessageObject {
  package static let blank = UploadAssetsRequest(zoneID: .default, tokens: [])

  package var approximateSize: Int { 128 * (tokens.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.written("zoneID", &zoneID)
    try coder.list("tokens", &tokens, count: 1...ServiceLimits.assetsPerRequest)
  }
}

extension UploadAssetsRequest.Token: MessageObject {
  package static let blank = UploadAssetsRequest.Token(
    recordName: nil, recordType: "", fieldName: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional("recordName", &recordName, "Absent, the server makes it.")
    try coder.required("recordType", &recordType, .name)
    try coder.required("fieldName", &fieldName, .name)
    let token = self
    try coder.check(nil) { () throws(ModelError) in
      try Identifier.validateRecordType(token.recordType)
      try Identifier.validateFieldName(token.fieldName)
    }
  }
}

/// The answer of `assets/upload`, in the order of the request.
public struct UploadAssetsResponse: Sendable, Hashable {
  public struct Token: Sendable, Hashable {
    public var recordName: String
    public var fieldName: String
    /// Where to POST the file's bytes.
    public var url: String

    public init(recordName: String, fieldName: String, url: String) {
      self.recordName = recordName
      self.fieldName = fieldName
      self.url = url
    }
  }

  public var tokens: [Token]

  public init(tokens: [Token]) {
    self.tokens = tokens
  }
}

extension UploadAssetsResponse: Message, MessageObject {
  package static let blank = UploadAssetsResponse(tokens: [])

  package var approximateSize: Int { 256 * (tokens.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("tokens", &tokens)
  }
}

extension UploadAssetsResponse.Token: MessageObject {
  package static let blank = UploadAssetsResponse.Token(recordName: "", fieldName: "", url: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("recordName", &recordName)
    try coder.required("fieldName", &fieldName)
    try coder.required("url", &url)
  }
}

/// The answer of an upload URL: what the field's value shall be.
public struct UploadedAssetResponse: Sendable, Hashable {
  public var asset: Asset

  public init(asset: Asset) {
    self.asset = asset
  }
}

extension UploadedAssetResponse: Message, MessageObject {
  package static let blank = UploadedAssetResponse(asset: .blank)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("singleFile", &asset, "What to save as the field's value.")
  }
}

/// The body of `assets/rereference`: asks for receipts for files that records hold, so that other
/// records may hold them too.
public struct RereferenceAssetsRequest: Sendable, Hashable {
  /// A field that holds a file.
  public struct Place: Sendable, Hashable {
    public var recordName: String
    public var fieldName: String

    public init(recordName: String, fieldName: String) {
      self.recordName = recordName
      self.fieldName = fieldName
    }
  }

  public var zoneID: ZoneID
  public var assets: [Place]

  public init(zoneID: ZoneID, assets: [Place]) {
    self.zoneID = zoneID
    self.assets = assets
  }
}

extension RereferenceAssetsRequest: Message, MessageObject {
  package static let blank = RereferenceAssetsRequest(zoneID: .default, assets: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.written("zoneID", &zoneID)
    try coder.list("assets", &assets, count: 1...ServiceLimits.assetsPerRequest)
  }
}

extension RereferenceAssetsRequest.Place: MessageObject {
  package static let blank = RereferenceAssetsRequest.Place(recordName: "", fieldName: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("recordName", &recordName)
    try coder.required("fieldName", &fieldName)
  }
}

/// The answer of `assets/rereference`.
public struct RereferenceAssetsResponse: Sendable, Hashable {
  public var assets: [Asset]

  public init(assets: [Asset]) {
    self.assets = assets
  }
}

extension RereferenceAssetsResponse: Message, MessageObject {
  package static let blank = RereferenceAssetsResponse(assets: [])

  package var approximateSize: Int { 256 * (assets.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("assets", &assets)
  }
}

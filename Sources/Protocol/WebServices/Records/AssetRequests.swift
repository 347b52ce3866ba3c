import CloudKitModel
import Foundation
import JSONCoding

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

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    zoneID = try reader.zoneID() ?? .default
    tokens = []
    for element in try reader.assetElements(of: "tokens") {
      let token = Token(
        recordName: try element.optionalString("recordName"),
        recordType: try element.member("recordType").string(),
        fieldName: try element.member("fieldName").string())
      try element.checked { () throws(ModelError) in
        try Identifier.validateRecordType(token.recordType)
        try Identifier.validateFieldName(token.fieldName)
      }
      tokens.append(token)
    }
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter(reserving: 128 * tokens.count)
    writer.object { writer in
      writer.key("zoneID")
      zoneID.write(to: &writer, context: context)
      writer.key("tokens")
      writer.array { writer in
        for token in tokens {
          writer.object { writer in
            writer.member("recordName", ifPresent: token.recordName)
            writer.member("recordType", token.recordType)
            writer.member("fieldName", token.fieldName)
          }
        }
      }
    }
    return writer.data
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

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    tokens = []
    for element in try reader.member("tokens").elements() {
      tokens.append(
        Token(
          recordName: try element.member("recordName").string(),
          fieldName: try element.member("fieldName").string(),
          url: try element.member("url").string()))
    }
  }

  public var body: Data {
    var writer = JSONWriter(reserving: 256 * tokens.count)
    writer.object { writer in
      writer.key("tokens")
      writer.array { writer in
        for token in tokens {
          writer.object { writer in
            writer.member("recordName", token.recordName)
            writer.member("fieldName", token.fieldName)
            writer.member("url", token.url)
          }
        }
      }
    }
    return writer.data
  }
}

/// The answer of an upload URL: what the field's value shall be.
public struct UploadedAssetResponse: Sendable, Hashable {
  public var asset: Asset

  public init(asset: Asset) {
    self.asset = asset
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(
      parsing: body, context: MessageContext(ownerNaming: .explicit))
    asset = try Asset(try reader.member("singleFile"))
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("singleFile")
      asset.write(to: &writer)
    }
    return writer.data
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

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    zoneID = try reader.zoneID() ?? .default
    assets = []
    for element in try reader.assetElements(of: "assets") {
      assets.append(
        Place(
          recordName: try element.member("recordName").string(),
          fieldName: try element.member("fieldName").string()))
    }
  }
}

/// The answer of `assets/rereference`.
public struct RereferenceAssetsResponse: Sendable, Hashable {
  public var assets: [Asset]

  public init(assets: [Asset]) {
    self.assets = assets
  }

  public var body: Data {
    var writer = JSONWriter(reserving: 256 * assets.count)
    writer.object { writer in
      writer.key("assets")
      writer.array { writer in
        for asset in assets { asset.write(to: &writer) }
      }
    }
    return writer.data
  }
}

extension MessageReader {
  /// The elements of a list of at least one asset, and no more than a request may have.
  fileprivate func assetElements(of key: String) throws(ServiceError) -> [MessageReader] {
    let list = try member(key)
    let elements = try list.elements()
    guard !elements.isEmpty else { throw list.mistake("must not be empty") }
    let limit = ServiceLimits.assetsPerRequest
    guard elements.count <= limit else {
      var mistake = list.mistake(
        "has \(elements.count) items; the limit is \(limit) per request")
      mistake.limit = limit
      throw mistake
    }
    return elements
  }
}

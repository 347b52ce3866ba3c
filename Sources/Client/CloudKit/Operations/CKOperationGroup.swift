/// A group of operations that belong together, with the configuration that they share.
///
/// Petrel uses only ``defaultConfiguration``. The other properties describe the group for the
/// program itself; the server never gets them.
open class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
  /// The amount of data that the operations of a group are expected to transfer.
  public typealias TransferSize = CKOperationGroupTransferSize

  /// The properties of a group, as a value under its lock.
  private struct Values: Sendable {
    var configuration = CKOperationConfiguration()
    var name: String?
    var quantity = 0
    var expectedSendSize = TransferSize.unknown
    var expectedReceiveSize = TransferSize.unknown
  }

  /// The unique ID of the group, made with the object. An archive keeps it.
  public let operationGroupID: String
  private let stored = Locked(Values())

  /// Makes a group with a new ID.
  public override init() {
    operationGroupID = UUID().uuidString
  }

  /// The settings of the group's operations where their own configuration sets none.
  ///
  /// The setter copies the value; nil resets all settings. An archive has those that were set; of a
  /// container it has the identifier.
  open var defaultConfiguration: CKOperation.Configuration! {
    get { stored.withLock { $0.configuration } }
    set {
      let copy = CKOperationConfiguration(newValue?.values ?? .init())
      stored.withLock { $0.configuration = copy }
    }
  }

  /// A name for a person to read; nil unless set.
  open var name: String? {
    get { stored.withLock { $0.name } }
    set { stored.withLock { $0.name = newValue } }
  }

  /// The amount of work of the group, in a unit that the program chooses; 0 unless set.
  open var quantity: Int {
    get { stored.withLock { $0.quantity } }
    set { stored.withLock { $0.quantity = newValue } }
  }

  /// The amount of data that the operations are expected to send; `.unknown` unless set.
  open var expectedSendSize: TransferSize {
    get { stored.withLock { $0.expectedSendSize } }
    set { stored.withLock { $0.expectedSendSize = newValue } }
  }

  /// The amount of data that the operations are expected to receive; `.unknown` unless set.
  open var expectedReceiveSize: TransferSize {
    get { stored.withLock { $0.expectedReceiveSize } }
    set { stored.withLock { $0.expectedReceiveSize = newValue } }
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a group from an archive.
  public required init(coder: NSCoder) {
    operationGroupID =
      coder.decodeOptionalString(forKey: "operationGroupID") ?? UUID().uuidString
    super.init()
    let configuration = coder.decodeOptional(
      ArchivedOperationConfiguration.self, forKey: "defaultConfiguration")
    defaultConfiguration = configuration.map { CKOperationConfiguration($0.values) }
    name = coder.decodeOptionalString(forKey: "name")
    quantity = coder.decodeInteger(forKey: "quantity")
    expectedSendSize =
      TransferSize(number: coder.decodeInteger(forKey: "expectedSendSize"))
    expectedReceiveSize =
      TransferSize(number: coder.decodeInteger(forKey: "expectedReceiveSize"))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(operationGroupID, forKey: "operationGroupID")
    coder.encode(
      ArchivedOperationConfiguration(defaultConfiguration.values), forKey: "defaultConfiguration")
    coder.encodeOptional(name, forKey: "name")
    coder.encode(quantity, forKey: "quantity")
    coder.encode(expectedSendSize.rawValue, forKey: "expectedSendSize")
    coder.encode(expectedReceiveSize.rawValue, forKey: "expectedReceiveSize")
  }
}

/// Operations that belong together, and the configuration they share.
open class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
  /// How much a group's operations are expected to transfer.
  public enum TransferSize: Int, Sendable {
    case unknown = 0
    case kilobytes = 1
    case megabytes = 2
    case tensOfMegabytes = 3
    case hundredsOfMegabytes = 4
    case gigabytes = 5
    case tensOfGigabytes = 6
    case hundredsOfGigabytes = 7
  }

  private struct Values: Sendable {
    var configuration = CKOperationConfiguration()
    var name: String?
    var quantity = 0
    var expectedSendSize = TransferSize.unknown
    var expectedReceiveSize = TransferSize.unknown
  }

  /// Made with the group, unique.
  public let operationGroupID: String
  private let stored = Locked(Values())

  public override init() {
    operationGroupID = UUID().uuidString
  }

  /// What operations of the group use where their own configuration is silent. Assigning copies;
  /// assigning nil resets to the defaults.
  open var defaultConfiguration: CKOperation.Configuration! {
    get { stored.withLock { $0.configuration } }
    set {
      let copy = CKOperationConfiguration(newValue?.values ?? .init())
      stored.withLock { $0.configuration = copy }
    }
  }

  /// A name for people.
  open var name: String? {
    get { stored.withLock { $0.name } }
    set { stored.withLock { $0.name = newValue } }
  }

  /// How much there is to do, in a unit of the program's own.
  open var quantity: Int {
    get { stored.withLock { $0.quantity } }
    set { stored.withLock { $0.quantity = newValue } }
  }

  open var expectedSendSize: TransferSize {
    get { stored.withLock { $0.expectedSendSize } }
    set { stored.withLock { $0.expectedSendSize = newValue } }
  }

  open var expectedReceiveSize: TransferSize {
    get { stored.withLock { $0.expectedReceiveSize } }
    set { stored.withLock { $0.expectedReceiveSize = newValue } }
  }

  open class var supportsSecureCoding: Bool { true }

  /// A group from an archive. The default configuration is not archived.
  public required init(coder: NSCoder) {
    operationGroupID =
      coder.decodeOptionalString(forKey: "operationGroupID") ?? UUID().uuidString
    super.init()
    name = coder.decodeOptionalString(forKey: "name")
    quantity = coder.decodeInteger(forKey: "quantity")
    expectedSendSize =
      TransferSize(rawValue: coder.decodeInteger(forKey: "expectedSendSize")) ?? .unknown
    expectedReceiveSize =
      TransferSize(rawValue: coder.decodeInteger(forKey: "expectedReceiveSize")) ?? .unknown
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(operationGroupID, forKey: "operationGroupID")
    coder.encodeOptional(name, forKey: "name")
    coder.encode(quantity, forKey: "quantity")
    coder.encode(expectedSendSize.rawValue, forKey: "expectedSendSize")
    coder.encode(expectedReceiveSize.rawValue, forKey: "expectedReceiveSize")
  }
}

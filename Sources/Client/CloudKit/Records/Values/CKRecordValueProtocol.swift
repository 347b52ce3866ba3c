/// A value that a record's field can hold.
///
/// The possible values are texts, numbers, dates, data, locations, references and assets. An array
/// of values of one of these types is possible too. The server refuses nested arrays, and arrays
/// with elements of several types. A Boolean is stored as 0 or 1.
public protocol CKRecordValueProtocol {}

/// The name of the Objective-C protocol for field values. In Apple's framework that protocol is
/// separate. Here it is the same as ``CKRecordValueProtocol``.
public typealias CKRecordValue = CKRecordValueProtocol
/// The name by which the Swift interface of Apple's framework refers to that Objective-C protocol.
public typealias __CKRecordObjCValue = CKRecordValueProtocol

extension String: CKRecordValueProtocol {}
extension Date: CKRecordValueProtocol {}
extension Data: CKRecordValueProtocol {}
extension Bool: CKRecordValueProtocol {}
extension Double: CKRecordValueProtocol {}
extension Float: CKRecordValueProtocol {}
extension Int: CKRecordValueProtocol {}
extension UInt: CKRecordValueProtocol {}
extension Int8: CKRecordValueProtocol {}
extension UInt8: CKRecordValueProtocol {}
extension Int16: CKRecordValueProtocol {}
extension UInt16: CKRecordValueProtocol {}
extension Int32: CKRecordValueProtocol {}
extension UInt32: CKRecordValueProtocol {}
extension Int64: CKRecordValueProtocol {}
extension UInt64: CKRecordValueProtocol {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}
extension NSString: CKRecordValueProtocol {}
extension NSDate: CKRecordValueProtocol {}
extension NSData: CKRecordValueProtocol {}
extension NSNumber: CKRecordValueProtocol {}
extension NSArray: CKRecordValueProtocol {}
extension CKReference: CKRecordValueProtocol {}
extension CKAsset: CKRecordValueProtocol {}
extension CLLocation: CKRecordValueProtocol {}

// Apple's CloudKit module re-exports these modules, and code written against it relies on that. The first one has the
// module's own enumerations.
@_exported import CCloudKitEnumerations
@_exported import CoreLocation
@_exported import Dispatch
@_exported import Foundation

// Additions of Petrel that `CKNotification.petrelAlert(from:)` needs: the localised strings of an
// app.
@_exported import struct StringTables.PetrelStrings
@_exported import struct StringTables.PetrelStringsError

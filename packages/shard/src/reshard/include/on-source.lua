-- Begins a script on the node that gives keys away. Ends the script with the reply STALE if the node must not do that now.

--- @include "moving-keys"
--- @include "even-when-full"

local isGiving = phase == 'moving' or phase == 'done'
if isBack then isGiving = phase == 'returning' end
if not isGiving or not isChecked or not isPresentRound then return staleReply() end
